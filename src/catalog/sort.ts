import type { Pricing } from '../core/snapshot.ts'
import type { Offered } from './listing.ts'
import type { Sort } from './schema.ts'

/** Requests by model id. */
export type Popularity = ReadonlyMap<string, number>

/** Larger stands first; null: no score, stands last. */
type Score = (offered: Offered) => bigint | number | null

const newest: Score = ({ model }) => (model.created > 0 ? model.created : null)
const context: Score = ({ contextLength }) => (contextLength > 0 ? contextLength : null)
/** Prompt and completion weigh the same. */
const priceOf = ({ top }: Offered): bigint | null => sumOf(top.record.pricing)
const sumOf = (pricing: Pricing | null): bigint | null =>
  pricing === null ? null : pricing.prompt + pricing.completion
const cheapest: Score = (offered) => {
  const price = priceOf(offered)
  return price === null ? null : -price
}
const unmeasured: Score = () => null

/** In the order that `sort` names; those of one score, and those without, keep the order in which they came. */
export function sorted(
  models: readonly Offered[],
  sort: Sort | undefined,
  popularity: Popularity,
): readonly Offered[] {
  if (sort === undefined) return models
  const score = scoreOf(sort, popularity)
  const scored = models.map((offered) => ({ offered, score: score(offered) }))
  scored.sort((left, right) => {
    if (left.score === right.score) return 0
    if (left.score === null) return 1
    return right.score === null || left.score > right.score ? -1 : 1
  })
  return scored.map(({ offered }) => offered)
}

function scoreOf(sort: Sort, popularity: Popularity): Score {
  switch (sort) {
    case 'newest':
      return newest
    case 'pricing-low-to-high':
      return cheapest
    case 'pricing-high-to-low':
      return priceOf
    case 'context-high-to-low':
      return context
    case 'most-popular':
    case 'top-weekly':
      return ({ model }) => popularity.get(model.id) ?? null
    case 'throughput-high-to-low':
    case 'latency-low-to-high':
    case 'intelligence-high-to-low':
    case 'coding-high-to-low':
    case 'agentic-high-to-low':
    case 'design-arena-elo-high-to-low':
      return unmeasured
  }
}
