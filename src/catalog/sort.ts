import type { EndpointMeasurements, Measurements } from '../core/measurements.ts'
import type { Offered } from './listing.ts'
import type { Sort } from './query/schema.ts'

/** Requests by model id. */
export type Popularity = ReadonlyMap<string, number>

/** Inputs of sorts in addition to the catalogue. */
export interface Scores {
  readonly popularity: Popularity
  readonly measurements: Measurements
}

/** Larger comes first; null: no score, comes last. */
type Score = (offered: Offered) => bigint | number | null

const newest: Score = ({ model }) => (model.created > 0 ? model.created : null)
const context: Score = ({ contextLength }) => (contextLength > 0 ? contextLength : null)
/** The price of the prompt; of two that are equal, the completion's. No price of a token reaches 2^100. */
const priceOf = ({ top }: Offered): bigint | null => {
  const { pricing } = top.record
  return pricing === null ? null : (pricing.prompt << PROMPT_BITS) + pricing.completion
}
const PROMPT_BITS = 100n
const cheapest: Score = (offered) => {
  const price = priceOf(offered)
  return price === null ? null : -price
}

/** Sorts stably: models with equal scores, and those without, keep their order. */
export function sorted(
  models: readonly Offered[],
  sort: Sort | undefined,
  scores: Scores,
): readonly Offered[] {
  if (sort === undefined) return models
  const score = scoreOf(sort, scores)
  const scored = models.map((offered) => ({ offered, score: score(offered) }))
  scored.sort((left, right) => {
    if (left.score === right.score) return 0
    if (left.score === null) return 1
    return right.score === null || left.score > right.score ? -1 : 1
  })
  return scored.map(({ offered }) => offered)
}

/** The best of the endpoints that a model is shown through. */
function bestOf(measurements: Measurements, read: (measured: EndpointMeasurements) => number | null): Score {
  return ({ endpoints }) => {
    let best: number | null = null
    for (const { record } of endpoints) {
      const measured = measurements.of(record.id)
      const value = measured === null ? null : read(measured)
      if (value !== null && (best === null || value > best)) best = value
    }
    return best
  }
}

function scoreOf(sort: Sort, { popularity, measurements }: Scores): Score {
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
      return bestOf(measurements, ({ tokensPerSecond }) => tokensPerSecond?.p50 ?? null)
    case 'latency-low-to-high':
      return bestOf(measurements, ({ latencyMs }) => (latencyMs === null ? null : -latencyMs.p50))
    case 'intelligence-high-to-low':
      return ({ model }) => model.scores?.intelligenceIndex ?? null
    case 'coding-high-to-low':
      return ({ model }) => model.scores?.codingIndex ?? null
    case 'agentic-high-to-low':
      return ({ model }) => model.scores?.agenticIndex ?? null
    case 'design-arena-elo-high-to-low':
      return ({ model }) => model.scores?.designArenaElo ?? null
  }
}
