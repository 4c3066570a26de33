import { describe, expect, test } from 'bun:test'
import { UpstreamError } from '../../../src/core/errors.ts'
import type { ProviderPreferences } from '../../../src/core/request.ts'
import { NO_USAGE } from '../../../src/core/usage.ts'
import { createHealth } from '../../../src/inference/routing/health.ts'
import { createMeasurements, metered } from '../../../src/inference/routing/measurements.ts'
import { plan } from '../../../src/inference/routing/plan.ts'
import { settlementOf } from '../../ledger/fixture.ts'
import { caller, directory, endpoint, model, pricing, provider, request, snapshot } from '../fixture.ts'

const NAMES = ['one', 'two', 'three', 'four']

/** A gateway with endpoints of given speeds, on its own clock. Requests come one after the other, `everyMs` apart. */
function gateway(names: string[], sort: ProviderPreferences['sort'], everyMs: number) {
  let now = Date.parse('2026-01-11T00:00:00Z')
  let state = 7
  const random = () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  const meters = createMeasurements(() => now)
  const health = metered(
    createHealth({ clock: () => now, random, mayRetry: () => true, onChange: () => undefined }),
    meters,
  )
  // The slowest is the cheapest, so that the price never helps.
  const endpoints = names.map((name, index) =>
    endpoint(name, 'lab/tiny', { pricing: pricing(`0.00000${9 - index}`, '0.000001') }),
  )
  const world = snapshot(
    names.map((name) => provider(name)),
    directory([model('lab/tiny', endpoints)]),
  )
  const ask = (latencies: Record<string, number>): string => {
    const { attempts } = plan({
      request: request({}, { sort }),
      caller: caller(),
      snapshot: world,
      now,
      cooldownOf: health.cooldownOf,
      measured: meters.of,
      recent: meters.recentOf,
      random,
    })
    const [attempt] = attempts
    if (attempt === undefined) throw new Error('a plan without attempts')
    const { slug } = attempt.provider
    const usualMs = latencies[slug] ?? 0
    const began = health.trying(attempt)
    if (usualMs === Number.POSITIVE_INFINITY) {
      health.failed(attempt, new UpstreamError('server', 'down', { status: 500 }), began)
    } else {
      // From half to twice the usual time, in no order.
      const latencyMs = usualMs * 4 ** (random() - 0.5)
      health.succeeded(attempt, latencyMs)
      const { id: endpointId } = attempt.endpoint
      const tries = [
        {
          endpointId,
          modelId: 'lab/tiny',
          providerSlug: slug,
          providerName: slug,
          upstreamId: null,
          status: 200,
          code: null,
          latencyMs,
        },
      ]
      meters.settled(
        settlementOf({
          endpointId,
          tries,
          finishReason: 'stop',
          cancelled: false,
          streamed: true,
          usage: { ...NO_USAGE, outputTokens: 100 },
          usageSource: 'provider',
          generationTimeMs: latencyMs,
        }),
      )
    }
    now += everyMs
    return slug
  }
  return {
    ask,
    /** How many of `count` requests each endpoint got. */
    shares(latencies: Record<string, number>, count: number): Record<string, number> {
      const shares: Record<string, number> = {}
      for (let index = 0; index < count; index++) {
        const slug = ask(latencies)
        shares[slug] = (shares[slug] ?? 0) + 1
      }
      return shares
    },
  }
}

const orders = [
  ['one', 'two', 'three'],
  ['one', 'three', 'two'],
  ['two', 'one', 'three'],
  ['two', 'three', 'one'],
  ['three', 'one', 'two'],
  ['three', 'two', 'one'],
]
const paces = [5, 100, 1_000]
const cases = (['latency', 'throughput', 'exacto'] as const).flatMap((sort) =>
  (sort === 'latency' ? orders : orders.slice(0, 1)).flatMap((names) =>
    paces.map((everyMs) => [sort, names, everyMs] as const),
  ),
)

describe('of three endpoints', () => {
  test.each(cases)(
    'sort %s, first measured %p, a request every %d ms: the fastest has 90 % of 200, and again 60 s after the speeds change',
    (sort, names, every) => {
      const { shares } = gateway(names, sort, every)
      expect(shares({ one: 80, two: 20, three: 200 }, 200)['two']).toBeGreaterThanOrEqual(180)
      // Each of the others becomes the fastest in turn.
      for (const [speeds, fastest] of [
        [{ one: 80, two: 200, three: 20 }, 'three'],
        [{ one: 20, two: 80, three: 200 }, 'one'],
      ] as const) {
        shares(speeds, 60_000 / every)
        expect(shares(speeds, 200)[fastest]).toBeGreaterThanOrEqual(180)
      }
    },
  )
})

describe('exploration', () => {
  test('each endpoint gets a first try before any gets a second', () => {
    const { ask } = gateway(NAMES, 'latency', 100)
    const first = NAMES.map(() => ask({ one: 10, two: 20, three: 30, four: 40 }))
    expect(first.toSorted()).toEqual(NAMES.toSorted())
  })

  test('a slow first answer does not hide the fastest endpoint', () => {
    const { ask, shares } = gateway(['one', 'two', 'three'], 'latency', 10)
    for (const _ of [1, 2, 3]) ask({ one: 80, two: 500, three: 200 })
    expect(shares({ one: 80, two: 5, three: 200 }, 200)['two']).toBeGreaterThanOrEqual(180)
  })

  test('no endpoint starves, and together the slow ones get at most one request in 20', () => {
    for (const every of paces) {
      const { shares } = gateway(NAMES, 'latency', every)
      const speeds = { one: 10, two: 200, three: 300, four: 400 }
      shares(speeds, 12)
      const count = Math.max(400, 120_000 / every)
      const got = shares(speeds, count)
      for (const name of NAMES) expect(got[name] ?? 0).toBeGreaterThanOrEqual(4)
      expect(count - (got['one'] ?? 0)).toBeLessThanOrEqual(count / 20)
    }
  })

  test('an endpoint that fails at its first try is not tried first again at once', () => {
    const { shares } = gateway(['one', 'two'], 'latency', 1_000)
    const got = shares({ one: 10, two: Number.POSITIVE_INFINITY }, 40)
    expect(got).toEqual({ one: 38, two: 2 })
  })

  test('a sort by price never explores', () => {
    const { shares } = gateway(['one', 'two', 'three'], 'price', 1_000)
    expect(shares({ one: 80, two: 20, three: 200 }, 100)).toEqual({ three: 100 })
  })
})
