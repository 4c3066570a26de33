import { turnAfterLong } from '../core/turn.ts'
import { OTHER } from './definition.ts'
import { createGenerationMetrics } from './generations.ts'
import { METRICS, type MetricName } from './list.ts'
import type { Metrics } from './metrics.ts'
import { createSeries, type Series } from './series.ts'

/** The metrics with their series, for a scrape. */
export interface MetricsStore {
  readonly observe: Metrics
  series(name: MetricName): Series
  /** Endpoints that were called since the start, perhaps several times. */
  calledEndpoints(): Iterable<readonly [provider: string, endpoint: string]>
  /** A metric that is read at the scrape: empty, with the same bounds. */
  fresh(name: MetricName): Series
  /** Removes the series of things that are gone for an hour. To be called about once a minute. */
  sweep(isGone: IsGone): Promise<void>
}

/** True if one of the things that these labels name no longer exists. */
export type IsGone = (labels: readonly string[], values: readonly string[]) => boolean

export interface MetricsOptions {
  /** The most series of a metric. */
  readonly mostSeries: number
  /** Requests and costs are counted for each key. */
  readonly ofKeys: boolean
  /** Milliseconds since 1970. */
  now(): number
}

const KEPT_MS = 3_600_000

const isMetricName = (name: string): name is MetricName => name in METRICS
export const METRIC_NAMES: readonly MetricName[] = Object.keys(METRICS).filter(isMetricName)

export function createMetrics(options: MetricsOptions): MetricsStore {
  const { mostSeries, now } = options
  const all = new Map<MetricName, Series>()
  const made = (name: MetricName, createdAt: () => number | null): Series =>
    createSeries(METRICS[name], {
      mostSeries,
      createdAt,
      onOverflow() {
        const overflow = series('sluice_series_overflow_total')
        overflow.add(overflow.place([name]), 1)
      },
    })
  function series(name: MetricName): Series {
    const known = all.get(name)
    if (known !== undefined) return known
    const created = made(name, now)
    all.set(name, created)
    return created
  }
  const generations = createGenerationMetrics(series, options.ofKeys)
  return {
    observe: { ...generations.observe, ...createOwnMetrics(series) },
    series,
    *calledEndpoints() {
      for (const [provider = '', endpoint = ''] of series('sluice_attempts_total').labelValues())
        yield [provider, endpoint]
    },
    fresh: (name) => made(name, () => null),
    async sweep(isGone) {
      for (const one of [...all.values()]) {
        const startedAt = performance.now()
        const { labels } = one.definition
        if (one.sweep((values) => isGone(labels, values), now(), KEPT_MS)) generations.forget()
        await turnAfterLong(startedAt)
      }
    },
  }
}

/** Of refusals, and of the gateway itself. */
function createOwnMetrics(series: (name: MetricName) => Series) {
  const refusals = series('sluice_refusals_total')
  const limited = series('sluice_rate_limited_total')
  const requests = series('sluice_requests_total')
  const matches = series('sluice_filter_matches_total')
  const commits = series('sluice_ledger_commit_seconds')
  const lags = series('sluice_event_loop_lag_seconds')
  const lost = series('sluice_content_log_dropped_total')
  const prunedRows = series('sluice_pruned_rows_total')
  const commit = commits.place([])
  const lag = lags.place([])
  const lostPlace = lost.place([])
  return {
    refused({ refusal: { reason, gate = '', filters = [] }, asked }) {
      refusals.add(refusals.place([reason]), 1)
      if (reason === 'rate') limited.add(limited.place([gate]), 1)
      for (const { name, action } of filters) matches.add(matches.place([name, action]), 1)
      if (asked === null) return
      requests.add(requests.place([asked.workspace, asked.model ?? OTHER, '', 'refused']), 1)
    },
    committed: (milliseconds) => commits.observe(commit, milliseconds / 1000),
    loopLagged: (milliseconds) => lags.observe(lag, milliseconds / 1000),
    contentsLost: (contents) => lost.add(lostPlace, contents),
    pruned: (file, rows) => prunedRows.add(prunedRows.place([file]), rows),
  } satisfies Partial<Metrics>
}
