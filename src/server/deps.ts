import type { Auth } from '../admin/auth/deps.ts'
import type { OverrideDeps } from '../admin/models/overrides.ts'
import type { RefreshDeps } from '../admin/models/service.ts'
import type { Once } from '../admin/once.ts'
import type { ProviderDeps } from '../admin/providers/deps.ts'
import type { Caller } from '../core/caller.ts'
import { gaveContent, type Settlement } from '../core/generation.ts'
import type { ContentLog } from '../core/generation-content.ts'
import type { Measurements } from '../core/measurements.ts'
import type { UploadedFiles } from '../core/uploaded-file.ts'
import type { Database } from '../db/database.ts'
import type { Sealer } from '../db/seal.ts'
import type { FileStore } from '../files/store.ts'
import { type AccessLog, noteSettled, numeral, quoted } from '../http/access-log.ts'
import type { BodyBudget } from '../http/body-budget.ts'
import type { Incoming } from '../http/incoming.ts'
import type { RateLimit } from '../http/rate-limit.ts'
import type { SessionSource } from '../http/session.ts'
import type { WrongKeys } from '../http/wrong-keys.ts'
import type { RunDeps } from '../inference/generation.ts'
import type { ResponsesDeps } from '../inference/responses/create.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Retention } from '../ledger/retention.ts'
import type { OutboundAllow } from '../net/address.ts'
import type { Names } from '../net/names.ts'
import type { SnapshotSource } from '../snapshot/source.ts'
import type { Logger } from './log.ts'

/** What the server knows of a request's connection, and can do with it. */
export type Connections = Pick<Deps, 'keepOpen' | 'addressOf'>

/** The few things that route modules are given, made once. No globals, no container. */
export interface Deps {
  readonly log: Logger
  /** One line for each request. */
  readonly accessLog: AccessLog
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly database: Database
  /** Seals what is stored and secret. */
  readonly sealer: Sealer
  /** Answers a repeated `Idempotency-Key` with what the first request made. */
  readonly once: Once
  /** People who have signed in. */
  readonly sessions: SessionSource
  /** How people sign in. */
  readonly auth: Auth
  readonly snapshot: SnapshotSource
  readonly ledger: Ledger
  /** How long rows of generations are kept. */
  readonly retention: Retention
  /** Uploaded files, to administer and to send along with requests that name them. */
  readonly files: FileStore
  readonly uploads: UploadedFiles
  /** Whether content filters know names of people. */
  readonly knowsNames: boolean
  /** What was measured of the endpoints, for the lists. */
  readonly measurements: Measurements
  /** What was asked and answered, where a workspace logs it. */
  readonly contents: ContentLog
  /** How the catalogue of models is replaced. */
  readonly refresh: RefreshDeps
  /** What the operator says of models. */
  readonly overrides: OverrideDeps['overrides']
  /** What is stored of providers, and where those come from that are called. */
  readonly providers: ProviderDeps['providers']
  /** What one inference needs. */
  readonly run: RunDeps
  /** Stored responses, and those that run in the background. */
  readonly responses: ResponsesDeps['responses']
  /** Private hosts that URLs of callers may name all the same. */
  readonly outboundAllow: OutboundAllow
  /** Resolves host names in the URLs of callers. */
  readonly names: Names
  /** Whose web pages may call; `*`: all. */
  readonly corsOrigins: readonly string[]
  /** Lifts the server's idle timeout of a connection, once its request has been read. */
  readonly keepOpen: (request: Request) => void
  /** The memory of request bodies in flight. */
  readonly bodies: BodyBudget
  /** How often a key may call administration. */
  readonly rateLimit: RateLimit
  /** Counts requests with wrong keys. */
  readonly wrongKeys: WrongKeys
  /** The client's address, told by a trusted proxy where there is one; null where it is not known. */
  readonly addressOf: (request: Request) => string | null
}

/**
 * What a generation came to, for the log: who, what, how long, how much. Never a secret, never a prompt. It stands in
 * the line of its request, or in one of its own where that is written: streams and background runs end later.
 */
export function logSettled(log: AccessLog, settlement: Settlement, caller: Caller, incoming: Incoming): void {
  const { requestId, latencyMs, generationTimeMs } = settlement
  const id = `"generation_id":"${settlement.generationId}"`
  const rest = settledMembers(settlement)
  // The request's own line names the key already.
  if (noteSettled(incoming, `${id},${rest}`)) return
  const totalMs = numeral(Math.round(latencyMs + generationTimeMs))
  log.request(
    `"request_id":"${requestId}","status":200,"total_ms":${totalMs},${id},"key":${quoted(caller.key.label)},${rest}`,
  )
}

function settledMembers(settlement: Settlement): string {
  const { usage, finishReason, responseCacheSourceId, tries } = settlement
  const lastTry = tries.at(-1)
  const hasContent = responseCacheSourceId !== undefined || (lastTry !== undefined && gaveContent(lastTry))
  const promptTokens = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens
  const cancelled = settlement.cancelled ? ',"cancelled":true' : ''
  const byok = settlement.isByok ? ',"byok":true' : ''
  const cachedFrom = responseCacheSourceId ? `,"cached_from":${quoted(responseCacheSourceId)}` : ''
  return (
    `"model":${quoted(settlement.modelId)},"provider":${quoted(settlement.providerSlug)},` +
    `"finish":${finishReason === null ? 'null' : quoted(finishReason)}${cancelled}${byok}${cachedFrom},` +
    `"streamed":${settlement.streamed},` +
    `"first_token_ms":${hasContent ? numeral(Math.round(settlement.latencyMs)) : null},` +
    `"prompt_tokens":${numeral(promptTokens)},` +
    `"completion_tokens":${numeral(usage.outputTokens + usage.reasoningTokens)},` +
    `"cost_usd":${numeral(settlement.costNanoUsd / 1e9)}`
  )
}
