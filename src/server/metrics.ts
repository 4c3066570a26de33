import type { Config } from '../config.ts'
import type { Snapshot } from '../core/snapshot.ts'
import { findVariant } from '../core/variant.ts'
import { BODIES_FILE, DATABASE_FILE } from '../db/database.ts'
import type { Delivery } from '../delivery/delivery.ts'
import { exportStatus } from '../delivery/export-status.ts'
import type { Incoming } from '../http/incoming.ts'
import type { RunDeps } from '../inference/generation.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { createIsGone, keyNamesOf } from '../metrics/gone.ts'
import { type Metrics, NO_METRICS, type Refused } from '../metrics/metrics.ts'
import type { MetricsDeps } from '../metrics/routes.ts'
import { createScrape } from '../metrics/scrape.ts'
import { createMetrics, type MetricsStore } from '../metrics/store.ts'
import type { DataFolder } from './data-folder.ts'
import { ownDescriptors } from './descriptors.ts'
import { createMetricsAccess } from './metrics-access.ts'
import { createCollect } from './metrics-sources.ts'
import { MINUTE_MS } from './units.ts'

/** Metrics as they happen, before the parts exist that a scrape reads. */
export interface Observing {
  readonly observe: Metrics
  /** Null: metrics are off. */
  readonly store: MetricsStore | null
}

export function openObserving(
  { metricsSeries, metricsKeys }: Pick<Config, 'metricsSeries' | 'metricsKeys'>,
  now: () => number,
): Observing {
  if (metricsSeries === 0) return { observe: NO_METRICS, store: null }
  const store = createMetrics({ mostSeries: metricsSeries, ofKeys: metricsKeys, now })
  return { observe: store.observe, store }
}

export interface MetricsParts {
  readonly observing: Observing
  readonly config: Config
  readonly folder: DataFolder
  readonly snapshot: { current(): Snapshot }
  readonly ledger: Ledger
  readonly delivery: Pick<Delivery, 'books'>
  readonly run: Pick<RunDeps, 'running' | 'health' | 'upstream'>
  now(): number
}

export interface OpenMetrics {
  readonly observe: Metrics
  /** Serves `GET /metrics`. */
  readonly metrics: MetricsDeps
  /** Counts a request that was refused. */
  onRefused(incoming: Incoming): void
  close(): void
}

/** Serves metrics, and starts the clocks that watch the event loop and remove series of deleted things. */
export function openMetrics(parts: MetricsParts): OpenMetrics {
  const { observing, config, snapshot, now } = parts
  const { store, observe } = observing
  const timers =
    store === null ? [] : [watchLoop(observe), setInterval(() => sweep(store, snapshot, config), MINUTE_MS)]
  for (const timer of timers) timer.unref()
  return {
    observe,
    metrics: {
      checkReader: createMetricsAccess({ config, snapshot, now }),
      scrape: store === null ? null : scrapeOf(store, parts),
    },
    onRefused: (incoming) => observe.refused(refusedOf(incoming, snapshot.current())),
    close() {
      for (const timer of timers) clearInterval(timer)
    },
  }
}

function scrapeOf(store: MetricsStore, { folder, ledger, snapshot, run, delivery, now }: MetricsParts) {
  const collect = createCollect({
    ledger,
    snapshot,
    ...run,
    calledEndpoints: store.calledEndpoints,
    exportStatus: () => exportStatus(delivery, now()),
    files: { [DATABASE_FILE]: folder.database.path, [BODIES_FILE]: folder.bodies.path },
    descriptors: ownDescriptors(),
    now,
  })
  return createScrape({ store, collect })
}

/** Rare enough to cost nothing; a stop of the thread that is shorter may go unseen. */
const LOOP_CLOCK_MS = 50

function watchLoop({ loopLagged }: Pick<Metrics, 'loopLagged'>): NodeJS.Timeout {
  let last = performance.now()
  return setInterval(() => {
    const current = performance.now()
    loopLagged(Math.max(0, current - last - LOOP_CLOCK_MS))
    last = current
  }, LOOP_CLOCK_MS)
}

function sweep(store: MetricsStore, snapshot: MetricsParts['snapshot'], { metricsKeys }: Config): void {
  const current = snapshot.current()
  const names = metricsKeys ? keyNamesOf(current.keysByHash.values()) : new Set<string>()
  store.sweep(createIsGone(current, names)).catch(() => undefined)
}

/** A refused request, with the model as the Snapshot names it. A request whose generation is settled counts as that. */
function refusedOf({ refusal, workspace, model, settled }: Incoming, snapshot: Snapshot): Refused {
  const isInference = workspace !== null && model !== null && settled === ''
  return {
    refusal: refusal ?? { reason: 'unavailable' },
    asked: isInference ? { workspace, model: modelIdOf(model, snapshot) } : null,
  }
}

const modelIdOf = (name: string, { models, withByok }: Snapshot): string | null =>
  (findVariant(name, models) ?? (withByok && findVariant(name, withByok.models)))?.model.id ?? null
