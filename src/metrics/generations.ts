/** What every request counts. */
import type { Caller } from '../core/caller.ts'
import { gaveContent, type Settlement } from '../core/generation.ts'
import { asText, fieldsOf, objectsIn } from '../core/json.ts'
import type { MetricName } from './list.ts'
import type { Metrics, SettledFacts } from './metrics.ts'
import { createOperationMetrics } from './operations.ts'
import { OUTCOMES, type Outcome, outcomeOf } from './outcome.ts'
import { createByTexts, type Places, placeAt } from './places.ts'
import type { Place, Series } from './series.ts'

/** The places of one workspace, model and provider, by the number of the outcome. */
interface RequestPlaces {
  readonly requests: Places
  readonly cost: Places
  readonly saved: Places
}

export interface GenerationMetrics {
  readonly observe: Pick<Metrics, 'settled' | 'attemptEnded'>
  /** Drops the places that were found: series were removed. */
  forget(): void
}

type SeriesOf = (name: MetricName) => Series

export function createGenerationMetrics(series: SeriesOf, ofKeys: boolean): GenerationMetrics {
  const operations = createOperationMetrics(series)
  const requests = createRequestMetrics(series, ofKeys)
  const overhead = series('sluice_overhead_seconds')
  const before = overhead.place(['before'])
  const after = overhead.place(['after'])
  const hits = series('sluice_response_cache_hits_total')
  const hit = hits.place([])
  const fallbacks = series('sluice_fallbacks_total')
  const matches = series('sluice_filter_matches_total')
  const attempts = series('sluice_attempts_total')
  const attemptPlaces = createByTexts((provider, endpoint, end) => ({
    place: attempts.place([provider, endpoint, end]),
  }))

  function settled(settlement: Settlement, caller: Caller, facts: SettledFacts): void {
    const outcome = outcomeOf(settlement)
    requests.count(settlement, caller, outcome, facts.savedNanoUsd)
    if (outcome === 'cached') hits.add(hit, 1)
    else if (settlement.apiType !== 'tool') operations.measure(settlement, outcome, facts.traceId)
    if (facts.overhead !== null) {
      overhead.observe(before, facts.overhead.beforeMs / 1000)
      overhead.observe(after, facts.overhead.afterMs / 1000)
    }
    if (settlement.tries.length > 1) countFallbacks(fallbacks, settlement)
    if (settlement.parent === undefined) countMatches(matches, settlement)
  }

  return {
    observe: {
      settled,
      attemptEnded({ endpoint, provider }, end) {
        attempts.add(attemptPlaces.of(provider.slug, endpoint.id, end).place, 1)
      },
    },
    forget() {
      operations.forget()
      requests.forget()
      attemptPlaces.clear()
    },
  }
}

function createRequestMetrics(series: SeriesOf, ofKeys: boolean) {
  const requests = series('sluice_requests_total')
  const cost = series('sluice_cost_usd_total')
  const saved = series('sluice_cost_saved_usd_total')
  const keyRequests = series('sluice_key_requests_total')
  const keyCost = series('sluice_key_cost_usd_total')
  const places = createByTexts<RequestPlaces>(() => ({ requests: [], cost: [], saved: [] }))
  return {
    count(settlement: Settlement, { workspace, key }: Caller, outcome: Outcome, savedNanoUsd: number): void {
      const { modelId, providerSlug, costNanoUsd, isByok, parent, cacheDiscountNanoUsd } = settlement
      const found = places.of(workspace.slug, modelId, providerSlug)
      const number = OUTCOMES.indexOf(outcome)
      const placeOf = (known: Places, of: Series): Place =>
        placeAt(known, number, () => of.place([workspace.slug, modelId, providerSlug, outcome]))
      const charged = isByok ? 0 : costNanoUsd
      if (parent === undefined) requests.add(placeOf(found.requests, requests), 1)
      cost.add(placeOf(found.cost, cost), charged)
      const allSaved = savedNanoUsd + Math.max(0, cacheDiscountNanoUsd ?? 0)
      if (allSaved > 0) saved.add(placeOf(found.saved, saved), allSaved)
      if (!ofKeys) return
      if (parent === undefined) keyRequests.add(keyRequests.place([key.name]), 1)
      keyCost.add(keyCost.place([key.name]), charged)
    },
    forget: places.clear,
  }
}

function countFallbacks(series: Series, { tries }: Settlement): void {
  for (const [index, attempt] of tries.entries()) {
    if (index === 0 || attempt.endpointId === tries[index - 1]?.endpointId) continue
    const { providerSlug, endpointId } = attempt
    series.add(series.place([providerSlug, endpointId, gaveContent(attempt) ? 'ok' : 'error']), 1)
  }
}

/** The names of filters are the operator's. */
function countMatches(series: Series, { guardrails = [] }: Settlement): void {
  for (const stage of guardrails) {
    for (const { name, action } of objectsIn(fieldsOf(stage['data'])['filters']))
      series.add(series.place([asText(name) ?? '', asText(action) ?? '']), 1)
  }
}
