import type { Auth } from '../admin/identity/auth/deps.ts'
import type { Once } from '../admin/once.ts'
import type { ProviderDeps } from '../admin/providers/deps.ts'
import type { OverrideDeps } from '../admin/providers/models/overrides.ts'
import type { RefreshDeps } from '../admin/providers/models/service.ts'
import type { CatalogLists } from '../catalog/callable.ts'
import type { ContentLog, ExportContents } from '../core/generation-content.ts'
import type { LogLevels } from '../core/log-level.ts'
import type { Measurements } from '../core/measurements.ts'
import type { UploadedFiles } from '../core/uploaded-file.ts'
import type { Database } from '../db/database.ts'
import type { Sealer } from '../db/seal.ts'
import type { Delivery } from '../delivery/delivery.ts'
import type { FileStore } from '../files/store.ts'
import type { AccessLog } from '../http/access-log.ts'
import type { BodyBudget } from '../http/body-budget.ts'
import type { Incoming } from '../http/incoming.ts'
import type { RateLimit } from '../http/rate-limit.ts'
import type { SessionSource } from '../http/session.ts'
import type { WrongKeys } from '../http/wrong-keys.ts'
import type { RunDeps } from '../inference/generation.ts'
import type { ResponsesDeps } from '../inference/responses/create.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Retention } from '../ledger/retention.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { MetricsDeps } from '../metrics/routes.ts'
import type { OutboundAllow } from '../net/address.ts'
import type { Names } from '../net/names.ts'
import type { SnapshotSource } from '../snapshot/source.ts'
import type { Logger } from './log.ts'

/** The dependencies of all routes, created once by `openGateway` and never changed. No globals, no container. */
export interface Deps {
  readonly log: Logger
  readonly accessLog: AccessLog
  /** Levels of the log's areas. */
  readonly logLevels: LogLevels
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly database: Database
  /** Seals stored secrets. */
  readonly sealer: Sealer
  /** Replays the first reply for a repeated `Idempotency-Key`. */
  readonly once: Once
  /** Sessions of signed-in people. */
  readonly sessions: SessionSource
  /** Sign-in. */
  readonly auth: Auth
  readonly snapshot: SnapshotSource
  readonly ledger: Ledger
  /** How long rows of generations are kept. */
  readonly retention: Retention
  readonly files: FileStore
  readonly uploads: UploadedFiles
  /** True if content filters can detect names of people. */
  readonly knowsNames: boolean
  /** Measurements of endpoints, for the lists. */
  readonly measurements: Measurements
  readonly contents: ContentLog
  /** Contents that wait for observability destinations. */
  readonly exportContents: ExportContents
  /** Lists of models that each caller may use. */
  readonly lists: CatalogLists
  /** Refreshes of the model catalogue. */
  readonly refresh: RefreshDeps
  /** The operator's overrides of models. */
  readonly overrides: OverrideDeps['overrides']
  /** Stored providers, and the origins of the providers in use. */
  readonly providers: ProviderDeps['providers']
  /** The dependencies of every generation. */
  readonly run: RunDeps
  /** The delivery of generations to observability destinations. */
  readonly delivery: Delivery
  /** Stored responses, and running background responses. */
  readonly responses: ResponsesDeps['responses']
  /** Private hosts that the operator allows in callers' URLs. */
  readonly outboundAllow: OutboundAllow
  /** Resolves host names in the URLs of callers. */
  readonly names: Names
  /** Origins whose web pages may call the API; `*`: all. */
  readonly corsOrigins: readonly string[]
  /** The memory of request bodies in flight. */
  readonly bodies: BodyBudget
  /** The rate limit of administration, per key. */
  readonly rateLimit: RateLimit
  /** Counts what happens, for GET /metrics. */
  readonly observe: Metrics
  /** Serves GET /metrics. */
  readonly metrics: MetricsDeps
  /** Counts a request that was refused. */
  readonly onRefused: (incoming: Incoming) => void
  /** Counts requests with wrong keys. */
  readonly wrongKeys: WrongKeys
  /** The client's address, as a trusted proxy reports it if there is one; null if unknown. */
  readonly addressOf: (incoming: Incoming) => string | null
}
