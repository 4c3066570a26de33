import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { openLedger } from '../ledger/open.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Logger } from './log.ts'

interface LedgerParts {
  readonly config: Config
  readonly database: Database
  readonly logger: Logger
  readonly lateMs: number | undefined
  readonly metrics: Pick<Metrics, 'committed'>
  hasDiskSpace(): boolean
  /** A commit has added to the outbox. */
  onExported(): void
  now(): number
}

const CANNOT_WRITE =
  'the ledger cannot be written: settlements wait and are tried again, and no new request is taken until then'

/** Opens the ledger of the data folder. Logs its failures, and settles generations that a crash interrupted. */
export function openOwnLedger({
  config,
  database,
  logger,
  lateMs,
  metrics,
  hasDiskSpace,
  onExported,
  now,
}: LedgerParts): Ledger {
  const { ledger, recovered } = openLedger(database, {
    now,
    hasRoom: hasDiskSpace,
    roomWaitMs: config.roomWaitMs,
    lateMs,
    onCommit: metrics.committed,
    exportsAll: config.otlpEndpoint !== null,
    onExported,
    onFailure(error, waiting, failures) {
      if (failures === 0) logger.error({ err: error }, 'a row of the ledger cannot be written and is dropped')
      // Logged once: the writer retries every two seconds.
      else if (failures === 1) logger.error({ err: error, waiting }, CANNOT_WRITE)
    },
    onRecovery: () => logger.warn('the ledger can be written again'),
  })
  if (recovered > 0) logger.warn({ generations: recovered }, 'settled the requests that a crash interrupted')
  return ledger
}
