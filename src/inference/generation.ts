import type { Attempt } from '../core/attempt.ts'
import type { Caller, RequestOrigin } from '../core/caller.ts'
import type { Cancellation } from '../core/cancellation.ts'
import type { Carrier } from '../core/carrier.ts'
import type { JsonObject } from '../core/events.ts'
import type { AttemptOutcome, JournalEntry, Settlement } from '../core/generation.ts'
import type { ContentLog } from '../core/generation-content.ts'
import type { Measurements } from '../core/measurements.ts'
import type { InferenceRequest, RoutedRequest } from '../core/request.ts'
import type { Closing } from '../core/result.ts'
import type { Snapshot } from '../core/snapshot.ts'
import type { Incoming } from '../http/incoming.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Content } from '../net/content.ts'
import type { Upstream } from '../net/upstream.ts'
import type { Tokens } from '../providers/provider.ts'
import type { Admission } from './admission/admit.ts'
import type { Rates } from './admission/rates.ts'
import type { Running } from './admission/running.ts'
import type { ContentRecord } from './content-log/record.ts'
import type { Meter, Metering } from './reply/meter.ts'
import type { Ticker } from './reply/ticker.ts'
import type { CacheOptions } from './response-cache/cache-options.ts'
import type { Lookup } from './response-cache/lookup.ts'
import type { ResponseCache } from './response-cache/store.ts'
import type { Health } from './routing/health.ts'
import type { Plan } from './routing/plan.ts'
import type { ContextUse } from './upstream/context-cache/apply.ts'
import type { ContextStore } from './upstream/context-cache/store.ts'

/** Reads an address through the guarded outbound module. */
export type FetchContent = (url: string, signal: AbortSignal) => Promise<Content>

/** Contents that were fetched for one request, as data URLs, by address: several endpoints cost one fetch. */
export type UrlContents = Map<string, Promise<string>>

/** What an endpoint refused of one request. */
interface Refused {
  /** By the name under which each is dropped. */
  readonly parts: readonly string[]
  /** The attempt in the dialect that it wants to be called in. */
  readonly instead?: Attempt
}

/** What every inference uses of the gateway. */
export interface RunDeps {
  readonly upstream: Upstream
  readonly health: Health
  /** Access tokens of credentials that are accounts. */
  readonly tokens: Tokens
  now(): number
  random(): number
  /** Waits on the injected clock; rejects with the signal's reason when it aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  readonly fetchContent: FetchContent
  /** Null: no prompt prefix is cached at providers. */
  readonly contexts: ContextStore | null
  readonly ledger: Ledger
  readonly rates: Rates
  readonly running: Running
  readonly ticker: Ticker
  readonly measurements: Measurements
  /** The log of prompts and replies. */
  readonly contents: Pick<ContentLog, 'add'>
  /** Seals what clients of a workspace carry from one request to the next. */
  carrierOf(workspaceId: string): Carrier
  /** Null: the response cache is off. */
  readonly cache: ResponseCache | null
  /** Called with every settled generation, failed ones included: for the log and the measurements. */
  onSettled(settlement: Settlement, caller: Caller, incoming: Incoming): void
  /** Called with failures that can no longer reach a caller. */
  onLost(error: unknown, generationId: string): void
}

/** What every inference begins with. */
export interface Opening<Request extends RoutedRequest = RoutedRequest> {
  /** The share of its body in the memory of bodies in flight is held while it runs. */
  readonly incoming: Incoming
  readonly snapshot: Snapshot
  readonly caller: Caller
  readonly origin: RequestOrigin
  readonly request: Request
  readonly wantsMetadata: boolean
  /** Absent: the response cache is not used. */
  readonly cache?: CacheOptions | undefined
  /** Aborts when the caller's connection goes away. */
  readonly signal: AbortSignal
  /** Milliseconds since 1970. */
  readonly startedAt: number
}

/**
 * One generation, from its plan to its settlement: the one object of a request, made once with all its fields and
 * handed from stage to stage (`pipeline.ts`). Whatever happens, it is settled exactly once.
 */
export interface Generation<Kind extends Metering = Metering, Request extends RoutedRequest = RoutedRequest> {
  readonly id: string
  readonly deps: RunDeps
  readonly opening: Opening<Request>
  readonly request: Request
  readonly caller: Caller
  readonly startedAt: number
  readonly wantsMetadata: boolean
  readonly plan: Plan
  /** The reservation. */
  readonly admission: Admission
  /** The attempts of the plan that limits admit, with an output bound if money sets one. */
  readonly attempts: Attempt[]
  readonly cached: Lookup | undefined
  readonly meter: Kind
  /** Cancelled when the caller disconnects, and at shutdown. */
  readonly cancellation: Cancellation
  /** What is logged of it; null: its workspace logs nothing. */
  readonly content: ContentRecord | null
  /** The row that a crash is settled from: the attempt that runs. */
  journal: JournalEntry

  // What attempts leave behind, so that a record exists even when all of them fail.
  readonly tries: AttemptOutcome[]
  /** The bodies that were sent, in their order; null: they are not echoed. */
  readonly sentBodies: JsonObject[] | null
  /** The attempt that runs or ran last. */
  current: Attempt | null
  /** A provider has accepted the request, so a disconnect from now on may be billed. */
  isSent: boolean
  /** When a provider's reply began, though perhaps without content; null: none has. */
  replyStartedAt: number | null
  /** Contents fetched from the request's URLs; null: none was fetched. */
  contents: UrlContents | null
  /** The owner of cached prompt prefixes at providers; null: none may be cached. */
  readonly contextOwner: string | null
  /** The cached prefix that the last call used, if one may be cached. */
  context: ContextUse | null
  /** The cached prefix of a refused call: the next call shows whether it was the cause. */
  suspect: ContextUse | null
  /** Parts of the request that endpoints refused; null: none. */
  refused: Map<Attempt, Refused> | null

  /** The caller's parameters that the answering endpoint could not carry. */
  dropped: string[]
  /** The attempt that replied completely. */
  answered: Attempt | null
  /** Called once the row of a complete reply is committed: records that name the row come after it. */
  onComplete: (() => void) | null
  settling: Promise<Closing> | null
}

/** A generation of a conversation. */
export type Conversation = Generation<Meter, InferenceRequest>
