/** The metrics of the OpenTelemetry conventions: durations and tokens of generations at providers. */
import { operationNameOf, providerNameOf } from '../core/gen-ai.ts'
import { gaveContent, type Settlement } from '../core/generation.ts'
import { completionTokens, promptTokens, type Usage } from '../core/usage.ts'
import type { MetricName } from './list.ts'
import { errorTypeOf, type Outcome } from './outcome.ts'
import { createByTexts, type Places, placeAt } from './places.ts'
import type { Exemplar, Place, Series } from './series.ts'

const TOKEN_TYPES = ['input', 'output', 'cache_read', 'cache_write', 'reasoning'] as const
/** Types of which the conventions have the histogram. */
const MEASURED_TYPES = 2

const tokensOf = (usage: Usage): readonly number[] => [
  promptTokens(usage),
  completionTokens(usage),
  usage.cacheReadTokens,
  usage.cacheWriteTokens,
  usage.reasoningTokens,
]

interface OperationPlaces {
  readonly labels: readonly string[]
  /** By error type. */
  readonly durations: Map<string, Place>
  readonly firstChunks: Map<string, Place>
  readonly tokens: Places
  readonly tokenSizes: Places
}

export interface OperationMetrics {
  measure(settlement: Settlement, outcome: Outcome, traceId: string): void
  forget(): void
}

export function createOperationMetrics(series: (name: MetricName) => Series): OperationMetrics {
  const durations = series('gen_ai_client_operation_duration_seconds')
  const firstChunks = series('gen_ai_client_operation_time_to_first_chunk_seconds')
  const tokens = series('gen_ai_client_token_usage_total')
  const tokenSizes = series('gen_ai_client_token_usage')
  const places = createByTexts<OperationPlaces>((operation, model, provider) => ({
    labels: [operation, providerNameOf(provider), model],
    durations: new Map(),
    firstChunks: new Map(),
    tokens: [],
    tokenSizes: [],
  }))

  function countTokens({ usage }: Settlement, found: OperationPlaces): void {
    for (const [type, count] of tokensOf(usage).entries()) {
      if (count === 0) continue
      const placeOf = (known: Places, of: Series): Place =>
        placeAt(known, type, () => of.place([...found.labels, TOKEN_TYPES[type] ?? '']))
      tokens.add(placeOf(found.tokens, tokens), count)
      if (type < MEASURED_TYPES) tokenSizes.observe(placeOf(found.tokenSizes, tokenSizes), count)
    }
  }

  return {
    measure(settlement, outcome, traceId) {
      const { apiType, modelId, providerSlug, latencyMs, generationTimeMs, streamed, tries } = settlement
      const found = places.of(operationNameOf(apiType), modelId, providerSlug)
      const error = errorTypeOf(settlement, outcome)
      const placeIn = (known: Map<string, Place>, of: Series): Place => placeOf(known, of, found, error)
      const seconds = (latencyMs + generationTimeMs) / 1000
      durations.observe(
        placeIn(found.durations, durations),
        seconds,
        exemplarOf(settlement, traceId, seconds),
      )
      const last = tries.at(-1)
      if (streamed && last !== undefined && gaveContent(last)) {
        const first = latencyMs / 1000
        firstChunks.observe(
          placeIn(found.firstChunks, firstChunks),
          first,
          exemplarOf(settlement, traceId, first),
        )
      }
      countTokens(settlement, found)
    },
    forget: places.clear,
  }
}

function placeOf(
  known: Map<string, Place>,
  series: Series,
  { labels }: OperationPlaces,
  error: string,
): Place {
  const found = known.get(error)
  if (found !== undefined) return found
  const place = series.place([...labels, error])
  known.set(error, place)
  return place
}

const exemplarOf = ({ generationId, endedAt }: Settlement, traceId: string, value: number): Exemplar => ({
  generationId,
  traceId,
  value,
  at: endedAt,
})
