import { describe, expect, test } from 'bun:test'
import type { ProviderPreferences } from '../../../src/core/request.ts'
import { plan } from '../../../src/inference/routing/plan.ts'
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
  usd,
} from '../fixture.ts'

const at = (slug: string, id: string, price: string, more = {}) =>
  endpoint(slug, id, { pricing: pricing(price, price), ...more })

const world = snapshot(
  [provider('one'), provider('two'), provider('three')],
  directory([
    model('lab/first', [
      at('one', 'lab/first', '0.00001', { isDistillable: false }),
      at('two', 'lab/first', '0.000004', { isDistillable: true }),
    ]),
    model('lab/second', [
      at('one', 'lab/second', '0.000002', { isDistillable: true }),
      at('three', 'lab/second', '0.000006'),
    ]),
    model('lab/voice', [
      at('one', 'lab/voice', '0', {
        pricing: pricing('0.000001', '0.000001', { audio: usd('0.00004') }),
      }),
      at('two', 'lab/voice', '0', { pricing: pricing('0.000001', '0.000001', { audio: usd('0.00002') }) }),
    ]),
  ]),
)
const BOTH = ['lab/first', 'lab/second']

const speeds: Record<string, number> = { 'one/lab/first': 10, 'three/lab/second': 90, 'one/lab/second': 50 }
const alike = (value: number) => ({ p50: value, p75: value, p90: value, p99: value })

function order(
  preferences: Partial<ProviderPreferences>,
  models: string[] = BOTH,
  defaultProviderSort: string | null = null,
): string {
  const planned = plan({
    request: request({ models }, preferences),
    caller: caller({}, { defaultProviderSort }),
    snapshot: world,
    now: 1,
    cooldownOf: () => null,
    recent: (id) => recentAs({ latency: speeds[id], speed: speeds[id] }),
    measured(id) {
      const speed = speeds[id]
      if (speed === undefined) return null
      return {
        latencyMs: alike(speed),
        tokensPerSecond: alike(speed),
        uptime5m: null,
        uptime30m: null,
        uptime1d: null,
      }
    },
    random: () => 0.5,
  })
  return planned.attempts.map(({ endpoint: { id } }) => id.replace('lab/', '')).join(' ')
}

describe('the endpoints of several models', () => {
  const rows: [what: string, preferences: Partial<ProviderPreferences>, ids: string][] = [
    ['are tried model by model', { sort: 'price' }, 'two/first one/first one/second three/second'],
    [
      'so too with partition model',
      { sort: 'price', sortPartition: 'model' },
      'two/first one/first one/second three/second',
    ],
    [
      'partition none: by price',
      { sort: 'price', sortPartition: 'none' },
      'one/second two/first three/second one/first',
    ],
    [
      'partition none: by speed',
      { sort: 'throughput', sortPartition: 'none' },
      'three/second one/second one/first two/first',
    ],
    [
      'partition none: by latency',
      { sort: 'latency', sortPartition: 'none' },
      'one/first one/second three/second two/first',
    ],
    [
      'partition none, no sort: spread by price',
      { sortPartition: 'none' },
      'one/second two/first three/second one/first',
    ],
    [
      'the own order goes before',
      { sort: 'price', sortPartition: 'none', order: ['three'] },
      'three/second one/second two/first one/first',
    ],
    [
      'and what is left out stays so',
      { sort: 'price', sortPartition: 'none', ignore: ['one'] },
      'two/first three/second',
    ],
    [
      'without fallbacks there is one',
      { sort: 'price', sortPartition: 'none', allowFallbacks: false },
      'one/second',
    ],
  ]
  test.each(rows)('%s', (_, preferences, ids) => expect(order(preferences)).toBe(ids))

  test('a variant and the workspace say how, where the request does not', () => {
    const none = { sortPartition: 'none' } as const
    expect(order(none, ['lab/first', 'lab/second:nitro'])).toBe('three/second one/second one/first two/first')
    expect(order(none, BOTH, 'latency')).toBe('one/first one/second three/second two/first')
    expect(order({ ...none, sort: 'price' }, ['lab/first:nitro', 'lab/second'], 'latency')).toBe(
      'one/second two/first three/second one/first',
    )
  })
})

describe('enforce_distillable_text', () => {
  test('leaves out endpoints that are not known to permit it', () => {
    expect(order({ enforceDistillableText: true })).toBe('two/first one/second')
    expect(order({ enforceDistillableText: false, sort: 'price' })).toBe(order({ sort: 'price' }))
  })

  test('is named if no endpoint is left', () =>
    expect(() => order({ enforceDistillableText: true }, ['lab/voice'])).toThrow(
      /No endpoint of "lab\/voice" fits this request.*lab\/voice at one is not known to permit distillation/,
    ))
})

test('max_price.audio is a bound', () =>
  expect(order({ maxPrice: { audio: '0.00003' } }, ['lab/voice'])).toBe('two/voice'))
