import { describe, expect, test } from 'bun:test'
import type { ProviderPreferences } from '../../../src/core/request.ts'
import type { ModelScores } from '../../../src/core/snapshot.ts'
import { inputNeeds, type Need } from '../../../src/inference/routing/needs.ts'
import { plan } from '../../../src/inference/routing/plan.ts'
import type { PlanInput } from '../../../src/inference/routing/plan-input.ts'
import type { Recent } from '../../../src/inference/routing/recent.ts'
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

interface World {
  /** USD per million tokens, by provider. */
  prices: Record<string, number>
  scores?: ModelScores
}

function firstOf(
  { prices, scores }: World,
  preferences: Partial<ProviderPreferences>,
  more: Partial<PlanInput>,
) {
  const names = Object.keys(prices)
  const endpoints = names.map((name) => {
    const price = ((prices[name] ?? 0) / 1e6).toFixed(9)
    return endpoint(name, 'lab/tiny', { pricing: pricing(price, price) })
  })
  const tiny = { ...model('lab/tiny', endpoints), ...(scores ? { scores } : {}) }
  const input: PlanInput = {
    request: request({}, preferences),
    caller: caller(),
    snapshot: snapshot(
      names.map((name) => provider(name)),
      directory([tiny]),
    ),
    now: NOW,
    cooldownOf: () => null,
    random: () => 0.5,
    ...more,
  }
  return () => plan(input).attempts.map((attempt) => attempt.provider.slug)
}

function seeded(): () => number {
  let state = 7
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/** The shares of first attempts, of 1 in all. */
function shares(world: World, more: Partial<PlanInput> = {}, preferences: Partial<ProviderPreferences> = {}) {
  const first = firstOf(world, preferences, { random: seeded(), ...more })
  const counts: Record<string, number> = {}
  for (let count = 0; count < 6_000; count++) {
    const slug = first()[0] ?? ''
    counts[slug] = (counts[slug] ?? 0) + 1 / 6_000
  }
  return counts
}

describe('the distribution by price', () => {
  test('an endpoint at twice the price gets a quarter of the share', () => {
    const got = shares({ prices: { one: 1, two: 2, four: 4 } })
    expect(got['one']).toBeWithin(16 / 21 - 0.02, 16 / 21 + 0.02)
    expect(got['two']).toBeWithin(4 / 21 - 0.02, 4 / 21 + 0.02)
    expect(got['four']).toBeWithin(1 / 21 - 0.02, 1 / 21 + 0.02)
  })

  test('endpoints at the same price share alike, and load does not change the share of others', () => {
    const got = shares(
      { prices: { one: 1, same: 1, two: 2 } },
      { inFlight: (slug) => (slug === 'two' ? 0 : 40) },
    )
    expect(got['one']).toBeWithin(4 / 9 - 0.02, 4 / 9 + 0.02)
    expect(got['same']).toBeWithin(4 / 9 - 0.02, 4 / 9 + 0.02)
    expect(got['two']).toBeWithin(1 / 9 - 0.02, 1 / 9 + 0.02)
  })

  test('a free endpoint gets nearly all requests', () => {
    expect(shares({ prices: { free: 0, one: 1 } })['free']).toBeGreaterThan(0.99)
  })
})

describe('of the first two endpoints that are as good', () => {
  const loads =
    (one: number, same: number): PlanInput['inFlight'] =>
    (slug) =>
      slug === 'one' ? one : same
  const world = { prices: { one: 1, same: 1 } }
  test.each([
    ['a quarter of the places less', 40, 24, 'same'],
    ['a little less', 40, 25, 'one'],
    ['no load', 0, 0, 'one'],
    ['the first has less', 24, 40, 'one'],
  ])('the less loaded is first: %s', (_, one, same, first) => {
    const inFlight = loads(one, same)
    expect(firstOf(world, {}, { inFlight })()[0]).toBe(first)
    expect(firstOf(world, { sort: 'price' }, { inFlight })()[0]).toBe(first)
    const recent = () => recentAs({ latency: 50 })
    expect(firstOf(world, { sort: 'latency' }, { inFlight, recent })()[0]).toBe(first)
  })

  test('a cheaper endpoint is not abandoned because of its load', () => {
    const inFlight = loads(64, 0)
    expect(firstOf({ prices: { one: 1, same: 1.01 } }, { sort: 'price' }, { inFlight })()[0]).toBe('one')
  })

  test('latencies within 5 percent are as good, and share requests by price', () => {
    const recents =
      (one: number): PlanInput['recent'] =>
      (slug) =>
        recentAs({ latency: slug.startsWith('one') ? one : 100 })
    const near = shares({ prices: { one: 2, same: 1 } }, { recent: recents(96) }, { sort: 'latency' })
    expect(near['one']).toBeWithin(0.2 - 0.02, 0.2 + 0.02)
    const far = shares({ prices: { one: 2, same: 1 } }, { recent: recents(94) }, { sort: 'latency' })
    expect(far).toEqual({ one: expect.closeTo(1, 5) })
  })
})

describe('a first try', () => {
  const untried = () => {
    const recent = recentAs({})
    recent.triedAt = null
    return recent
  }
  const need: Need = {
    rule: 'tools',
    has: ({ providerSlug }) => (providerSlug === 'unknown' ? null : true),
    asks: () => 'calls tools',
    lack: () => 'no tools',
  }
  const needs = { ...inputNeeds([]), list: [need] }
  const world = { prices: { unknown: 1, known: 1, next: 1 } }
  const first = (
    known: Recent,
    preferences: Partial<ProviderPreferences> = {},
    more: Partial<PlanInput> = {},
  ) =>
    firstOf(
      world,
      { sort: 'latency', ...preferences },
      {
        recent: (id) => (id.startsWith('known') ? known : untried()),
        ...more,
      },
    )()[0]

  test('goes to an endpoint that was never tried', () =>
    expect(first(recentAs({ latency: 1 }))).not.toBe('known'))

  test('goes to endpoints that have what the request needs, before those of which that is unknown', () => {
    expect(first(recentAs({ latency: 1 }), {}, { needs })).toBe('next')
  })

  test('does not override the caller’s order', () =>
    expect(first(recentAs({ latency: 1 }), { order: ['known'] })).toBe('known'))
})

describe('exacto', () => {
  const toolsOf = (valid: number, all: number, latency?: number): Recent => {
    const recent = recentAs({ latency })
    recent.toolCalls.add(NOW, valid, all)
    return recent
  }
  const best = (one: Recent | undefined, two: Recent | undefined, scores?: ModelScores) =>
    firstOf(
      { prices: { one: 1, two: 1 }, scores },
      { sort: 'exacto' },
      {
        recent: (id) => (id.startsWith('one') ? one : two),
      },
    )()[0]

  test('the larger share of valid tool calls is first, whatever the latency', () => {
    expect(best(toolsOf(80, 100, 10), toolsOf(99, 100, 900))).toBe('two')
    expect(best(toolsOf(99, 100, 900), toolsOf(80, 100, 10))).toBe('one')
  })

  test('with equal shares the lower latency is first', () => {
    expect(best(toolsOf(100, 100, 10), toolsOf(101, 101, 90))).toBe('one')
    expect(best(toolsOf(100, 100, 90), toolsOf(100, 100, 10))).toBe('two')
  })

  test('an endpoint without calls counts as its model’s benchmark, else as 95 percent', () => {
    const unmeasured = () => recentAs({ latency: 10 })
    expect(best(toolsOf(97, 100, 90), unmeasured())).toBe('one')
    expect(best(toolsOf(80, 100, 90), unmeasured())).toBe('two')
    expect(best(toolsOf(80, 100, 90), unmeasured(), { toolSuccessRate: 0.5 })).toBe('one')
  })

  test('few calls prove little, and old ones less and less', () => {
    expect(best(toolsOf(0, 1, 10), toolsOf(18, 20, 90))).toBe('two')
    const old = recentAs({ latency: 10 })
    old.toolCalls.add(NOW - 12 * 3_600_000, 0, 100)
    expect(best(old, toolsOf(9, 10, 90))).toBe('one')
  })
})
