import { describe, expect, test } from 'bun:test'
import type { Caller } from '../../../src/core/caller.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import type { EndpointMeasurements } from '../../../src/core/measurements.ts'
import type { InferenceRequest } from '../../../src/core/request.ts'
import type { Cooldown } from '../../../src/inference/routing/health.ts'
import { type Plan, plan } from '../../../src/inference/routing/plan.ts'
import {
  caller,
  directory,
  endpoint,
  model,
  pricing,
  provider,
  recentAs,
  request,
  snapshot,
} from '../fixture.ts'

const NOW = 1_000_000

const world = snapshot(
  [provider('cheap'), provider('dear'), provider('local', { isLocal: true })],
  directory(
    [
      model('lab/tiny', [
        endpoint('cheap', 'lab/tiny', { pricing: pricing('0.000001', '0.000001'), quantization: 'fp8' }),
        endpoint('dear', 'lab/tiny', {
          pricing: pricing('0.00001', '0.00001'),
          isZdr: true,
          supportedParameters: ['temperature', 'tools'],
        }),
      ]),
      model('lab/other', [endpoint('cheap', 'lab/other')]),
      model('lab/free', [endpoint('local', 'lab/free', { pricing: pricing('0', '0') })]),
      model('lab/unpriced', [endpoint('cheap', 'lab/unpriced', { pricing: null })]),
      model('lab/embed', [endpoint('cheap', 'lab/embed', { outputModalities: ['embeddings'] })]),
    ],
    ['lab/elsewhere'],
  ),
)

interface Overrides {
  request?: InferenceRequest
  caller?: Caller
  blocks?: Record<string, Cooldown>
  latencies?: Record<string, number>
  /** Tokens per second and milliseconds, alike at every percentile. */
  measured?: Record<string, { speed?: number; latency?: number }>
  random?: () => number
}

const planned = (overrides: Overrides = {}): Plan =>
  plan({
    request: overrides.request ?? request(),
    caller: overrides.caller ?? caller(),
    snapshot: world,
    now: NOW,
    cooldownOf: ({ endpoint: { id } }) => overrides.blocks?.[id] ?? null,
    measured: (id) => measuredAs(overrides.measured?.[id]),
    recent: (id) => recentAs({ latency: overrides.latencies?.[id], speed: overrides.measured?.[id]?.speed }),
    random: overrides.random ?? (() => 0.5),
  })

const alike = (value: number | undefined) =>
  value === undefined ? null : { p50: value, p75: value, p90: value, p99: value }
const measuredAs = (one: { speed?: number; latency?: number } | undefined): EndpointMeasurements | null =>
  one === undefined
    ? null
    : {
        latencyMs: alike(one.latency),
        tokensPerSecond: alike(one.speed),
        uptime5m: 100,
        uptime30m: 100,
        uptime1d: 100,
      }

const order = (overrides: Overrides): string[] =>
  planned(overrides).attempts.map(({ endpoint: { id } }) => id)

function refusal(overrides: Overrides): GatewayError {
  try {
    planned(overrides)
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('the plan was expected to be refused')
}

describe('order', () => {
  const cheap = 'cheap/lab/tiny'
  const dear = 'dear/lab/tiny'
  const failing = { reason: 'failing', until: NOW + 9_000 } as const
  const rows: [string, Overrides, string[]][] = [
    ['by weight: the cheaper one first for most draws', {}, [cheap, dear]],
    ['the caller’s order wins', { request: request({}, { order: ['dear'] }) }, [dear, cheap]],
    [
      'order without fallbacks names all',
      { request: request({}, { order: ['dear'], allowFallbacks: false }) },
      [dear],
    ],
    ['no fallbacks: the first only', { request: request({}, { allowFallbacks: false }) }, [cheap]],
    ['only', { request: request({}, { only: ['dear'] }) }, [dear]],
    ['only by display name', { request: request({}, { only: ['dear', 'nobody'] }) }, [dear]],
    ['ignore', { request: request({}, { ignore: ['cheap'] }) }, [dear]],
    ['sort by price', { request: request({}, { sort: 'price' }) }, [cheap, dear]],
    [
      'sort by latency, the unmeasured last',
      { request: request({}, { sort: 'latency' }), latencies: { [dear]: 100 } },
      [dear, cheap],
    ],
    [
      'the variant :nitro sorts by speed',
      { request: request({ models: ['lab/tiny:nitro'] }), latencies: { [dear]: 9 } },
      [dear, cheap],
    ],
    [
      'sort by throughput: the quicker one first, whatever the latency',
      {
        request: request({}, { sort: 'throughput' }),
        measured: { [cheap]: { speed: 20 }, [dear]: { speed: 90 } },
        latencies: { [cheap]: 1, [dear]: 900 },
      },
      [dear, cheap],
    ],
    [
      'sort by throughput, the unmeasured last',
      { request: request({}, { sort: 'throughput' }), measured: { [dear]: { speed: 1 } } },
      [dear, cheap],
    ],
    [
      ':nitro is the same sort',
      {
        request: request({ models: ['lab/tiny:nitro'] }),
        measured: { [cheap]: { speed: 20 }, [dear]: { speed: 90 } },
      },
      [dear, cheap],
    ],
    [
      'slower than preferred goes last',
      {
        request: request({}, { preferredMinThroughput: { p50: 50 } }),
        measured: { [cheap]: { speed: 49 }, [dear]: { speed: 50 } },
      },
      [dear, cheap],
    ],
    [
      'every percentile must hold',
      {
        request: request({}, { preferredMinThroughput: { p50: 10, p99: 60 } }),
        measured: { [cheap]: { speed: 49 }, [dear]: { speed: 60 } },
      },
      [dear, cheap],
    ],
    [
      'the preferred latency is in seconds',
      {
        request: request({}, { preferredMaxLatency: { p90: 0.5 } }),
        measured: { [cheap]: { latency: 501 }, [dear]: { latency: 500 } },
      },
      [dear, cheap],
    ],
    [
      'the unmeasured stand between',
      {
        request: request({}, { preferredMaxLatency: { p50: 1 } }),
        measured: { [cheap]: { latency: 2_000 } },
      },
      [dear, cheap],
    ],
    [
      'a preference is weaker than the own order',
      {
        request: request({}, { order: ['cheap'], preferredMinThroughput: { p50: 50 } }),
        measured: { [cheap]: { speed: 1 }, [dear]: { speed: 90 } },
      },
      [cheap, dear],
    ],
    [
      'a preference is stronger than the sort',
      {
        request: request({}, { sort: 'price', preferredMinThroughput: { p50: 50 } }),
        measured: { [cheap]: { speed: 1 }, [dear]: { speed: 90 } },
      },
      [dear, cheap],
    ],
    ['zdr', { request: request({}, { zdr: true }) }, [dear]],
    ['quantisation', { request: request({}, { quantizations: ['fp8'] }) }, [cheap]],
    ['max_price is USD per million', { request: request({}, { maxPrice: { prompt: '1' } }) }, [cheap]],
    [
      'require_parameters leaves out an endpoint that lacks one, and one without a list',
      { request: request({ parameters: ['tools'] }, { requireParameters: true }) },
      [dear],
    ],
    [
      'fallback models come after',
      { request: request({ models: ['lab/other', 'lab/tiny'] }) },
      ['cheap/lab/other', cheap, dear],
    ],
    ['an endpoint that fails is passed over', { blocks: { [cheap]: failing } }, [dear]],
    [
      'an unknown fallback is passed over',
      { request: request({ models: ['no/such', 'lab/other'] }) },
      ['cheap/lab/other'],
    ],
  ]
  test.each(rows)('%s', (_, overrides, expected) => expect(order(overrides)).toEqual(expected))

  test('the draw is by price: a tenth of the price gets about all first tries', () => {
    let state = 1
    const random = () => {
      state = (state * 48_271) % 2_147_483_647
      return state / 2_147_483_647
    }
    const firsts = Array.from({ length: 2_000 }, () => order({ random })[0])
    const share = firsts.filter((id) => id === cheap).length / firsts.length
    expect(share).toBeGreaterThan(0.97)
    expect(share).toBeLessThan(1)
  })

  test('the workspace’s default model stands in', () => {
    const plan = planned({
      request: request({ models: [] }),
      caller: caller({}, { defaultTextModel: 'lab/other' }),
    })
    expect(plan.attempts[0]?.model.id).toBe('lab/other')
  })
})

describe('refusals', () => {
  const rows: [string, Overrides, number, RegExp][] = [
    ['no model', { request: request({ models: [] }) }, 400, /no default text model/],
    [
      'unknown model',
      { request: request({ models: ['lab/tinny'] }) },
      404,
      /no model "lab\/tinny".*nearest names are lab\/tiny/,
    ],
    [
      'known elsewhere',
      { request: request({ models: ['lab/elsewhere'] }) },
      404,
      /no provider that offers it is configured/,
    ],
    ['unpriced', { request: request({ models: ['lab/unpriced'] }) }, 400, /SLUICE_UNPRICED/],
    ['embeddings only', { request: request({ models: ['lab/embed'] }) }, 400, /embeddings/],
    ['all left out', { request: request({}, { only: ['nobody'] }) }, 404, /provider\.only/],
    ['not free', { request: request({ models: ['lab/tiny:free'] }) }, 404, /for free/],
  ]
  test.each(rows)('%s', (_, overrides, status, sentence) => {
    const error = refusal(overrides)
    expect(error.status).toBe(status)
    expect(error.message).toMatch(sentence)
  })

  // No time where the next step is the operator's: Codex 0.169.0 waits for as long as a 503 says, without a word.
  test.each([
    ['rate-limit', 12_300, 429, { 'retry-after': '13' }],
    ['failing', 500, 503, { 'retry-after': '1' }],
    ['refused', 600_000, 503, { 'x-should-retry': 'false' }],
  ] as const)('every endpoint is set aside, %s for %d ms: %d with %o', (reason, ms, status, headers) => {
    const blocks = { 'cheap/lab/other': { reason, until: NOW + ms } }
    const error = refusal({ request: request({ models: ['lab/other'] }), blocks })
    expect([error.status, error.headers]).toEqual([status, headers])
  })
})

describe('a server tool that the gateway does not have', () => {
  const at = (slug: string) => model(`${slug}/m`, [endpoint(slug, `${slug}/m`)])
  const providers = [provider('plain'), provider('runs', { quirks: { serverTools: true } })]
  const pair = snapshot(providers, directory([at('plain'), at('runs')], []))
  const withTool = (models: string[], dialect: 'chat' | 'messages') =>
    plan({
      request: { ...request({ models }), dialect, serverTool: 'openrouter:advisor' },
      caller: caller(),
      snapshot: pair,
      now: NOW,
      cooldownOf: () => null,
      random: () => 0.5,
    }).attempts.map(({ provider: { slug } }) => slug)

  test('is for the providers that run it, in the dialect that has it', () => {
    expect(withTool(['plain/m', 'runs/m'], 'chat')).toEqual(['runs'])
    expect(() => withTool(['plain/m'], 'chat')).toThrow(
      '"openrouter:advisor" is not a tool that this gateway runs',
    )
    expect(() => withTool(['runs/m'], 'messages')).toThrow(
      '"openrouter:advisor" is not a tool that this gateway runs',
    )
  })
})
