import type { Database } from './db/database.ts'
import { type Deps, logSettled } from './deps.ts'
import { createHealth } from './inference/health.ts'
import { createMeasurements, metered } from './inference/measurements.ts'
import { createRunning } from './inference/running.ts'
import { createTicker } from './inference/ticker.ts'
import { openLedger } from './ledger/open.ts'
import type { Logger } from './log.ts'
import { NOTHING_ALLOWED, type OutboundAllow } from './net/address.ts'
import { createUpstream } from './net/client.ts'
import { contentFetcher } from './net/content.ts'
import { createSnapshotSource, type Routing } from './snapshot/source.ts'

export interface Parts {
  /** Migrated, with an organisation in it. */
  database: Database
  logger: Logger
  routing: Routing
  outboundAllow?: OutboundAllow
  /** The clock, in milliseconds since 1970. */
  now?(): number
}

export interface Assembled {
  deps: Deps
  /** Commits what waits and closes every connection; the database stays open. */
  stopParts(): Promise<void>
}

/** Everything behind the routes. Opens nothing but the ledger. */
export function assemble({
  database,
  logger,
  routing,
  outboundAllow = NOTHING_ALLOWED,
  now = Date.now,
}: Parts): Assembled {
  const { ledger, recovered } = openLedger(database, {
    now,
    onFailure: (error, waiting) =>
      logger.error({ err: error, waiting }, 'the ledger could not be written; trying again'),
  })
  if (recovered > 0) logger.warn({ generations: recovered }, 'settled what a crash had left open')
  const snapshot = createSnapshotSource(database, routing)
  const upstream = createUpstream()
  const ticker = createTicker(now)
  const measurements = createMeasurements(now)
  const deps: Deps = {
    log: logger,
    now,
    database,
    snapshot,
    ledger,
    measurements,
    keepOpen: () => undefined,
    outboundAllow,
    run: {
      now,
      random: Math.random,
      wait: sleep,
      fetchContent: contentFetcher(outboundAllow),
      upstream,
      health: metered(createHealth(now), measurements),
      measurements,
      ledger,
      running: createRunning(),
      ticker,
      onSettled(settlement, caller) {
        measurements.settled(settlement)
        logSettled(logger, settlement, caller)
      },
      onLost: (error, generationId) =>
        logger.error({ err: error, generation_id: generationId }, 'a failure nobody could be told of'),
    },
  }
  const stopParts = async (): Promise<void> => {
    upstream.close()
    ticker.close()
    await ledger.close()
  }
  return { deps, stopParts }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
