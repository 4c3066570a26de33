import { describe, expect, test } from 'bun:test'
import type { Attempt } from '../../../src/core/attempt.ts'
import { type SortKey, scoresOf } from '../../../src/inference/routing/order.ts'
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

/** The scores of the routing metadata. */

const attemptAt = (slug: string, price: string, contextLength = 1_000): Attempt => {
  const at = endpoint(slug, 'lab/tiny', { pricing: pricing(price, price), contextLength })
  const tiny = model('lab/tiny', [at])
  const credential = { id: slug, secret: null }
  return { model: tiny, endpoint: at, provider: provider(slug), credential, dialect: 'chat' }
}
const attempts = [attemptAt('a', '0.000001', 500), attemptAt('b', '0.000002'), attemptAt('c', '0.000004')]
const scored = (
  sort: SortKey | undefined,
  recent: (endpointId: string) => Recent | undefined = () => undefined,
) => {
  const scores = scoresOf(attempts, {
    request: request(),
    caller: caller(),
    snapshot: snapshot([], directory([])),
    now: 1_000,
    cooldownOf: () => null,
    random: () => 0.5,
    recent,
    sort,
  })
  return attempts.map(({ endpoint: { id } }) => scores.get(id) ?? null)
}
const measured =
  (figures: Record<string, Parameters<typeof recentAs>[0]>) =>
  (id: string): Recent | undefined => {
    const figure = figures[id.slice(0, 1)]
    return figure && recentAs(figure)
  }

describe('the score of an endpoint', () => {
  test.each([
    ['without a sort is the weight of its price', undefined, {}, [1, 0.25, 0.0625]],
    ['by price is its price against the lowest', 'price', {}, [1, 0.5, 0.25]],
    ['by context is its length against the longest', 'context', {}, [0.5, 1, 1]],
    [
      'by latency, null: not measured',
      'latency',
      { a: { latency: 200 }, b: { latency: 100 } },
      [0.5, 1, null],
    ],
    ['by throughput', 'throughput', { a: { speed: 10 }, b: { speed: 40 } }, [0.25, 1, null]],
    ['by exacto is the share of valid tool calls', 'exacto', { a: { latency: 1 } }, [0.95, 0.95, 0.95]],
  ] as const)('%s', (_, sort, figures, expected) => {
    expect(scored(sort, measured(figures))).toEqual([...expected])
  })
})
