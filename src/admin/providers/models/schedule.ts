import { GatewayError } from '../../../core/errors.ts'
import { fetchProposal, type RefreshDeps, takeOver } from './service.ts'

export interface ScheduleOptions extends RefreshDeps {
  every: 'off' | 'daily' | 'weekly'
  log: {
    info(facts: object, message: string): void
    warn(facts: object, message: string): void
    error(facts: object, message: string): void
  }
  /** Calls `look` from time to time; answers what stops it. Default: every hour, never keeping the process alive. */
  repeat?(look: () => Promise<void>): () => void
}

const DAY_MS = 86_400_000
const EVERY_MS = { daily: DAY_MS, weekly: 7 * DAY_MS }
const LOOK_MS = 3_600_000
/** A scheduled refresh is not reviewed: a document that would remove more than this share is not applied. */
const MOST_REMOVED = 0.25
/** After a failure, and while there is something to look at. */
const RETRY_MS = 6 * LOOK_MS

/** Refreshes the catalogue when due, an hour after the start at the earliest. A failure is logged and keeps the old one. */
export function scheduleRefresh(options: ScheduleOptions): { stop(): void } {
  const { every, catalog, now, log } = options
  if (every === 'off') return { stop: () => undefined }
  let triedAt = Number.NEGATIVE_INFINITY
  let isRunning = false
  const look = async (): Promise<void> => {
    const since = catalog.current().refreshed?.refreshedAt ?? 0
    if (isRunning || now() - since < EVERY_MS[every] || now() - triedAt < RETRY_MS) return
    isRunning = true
    triedAt = now()
    try {
      await refreshUnseen(options)
    } catch (error) {
      const why = error instanceof GatewayError ? error.message : 'see the error'
      log.error({ err: error }, `the catalogue of models was not refreshed: ${why}`)
    } finally {
      isRunning = false
    }
  }
  return { stop: (options.repeat ?? hourly)(look) }
}

async function refreshUnseen(options: ScheduleOptions): Promise<void> {
  const { url, log } = options
  const proposal = await fetchProposal(options, url)
  const { added, removed, priceChanges, warnings, endpointsBefore } = proposal.diff
  const counts = { added: added.length, removed: removed.length, price_changes: priceChanges.length }
  if (removed.length > endpointsBefore * MOST_REMOVED) {
    log.warn(counts, 'newer facts would remove many models: look at them with sluice models refresh')
    return
  }
  takeOver(options, proposal, url)
  log.info(counts, 'the catalogue of models was refreshed')
  if (warnings.length > 0)
    log.warn({ warnings: warnings.slice(0, 10), count: warnings.length }, 'prices are far from the usual')
}

function hourly(look: () => Promise<void>): () => void {
  const timer = setInterval(() => void look(), LOOK_MS)
  timer.unref()
  return () => clearInterval(timer)
}
