import type { Attempt } from '../core/attempt.ts'
import type { Caller, RequestOrigin } from '../core/caller.ts'
import type { Cancellation } from '../core/cancellation.ts'
import type { Carrier } from '../core/carrier.ts'
import type { DocumentReader } from '../core/document-reader.ts'
import type { InferenceFrames, JsonObject } from '../core/events.ts'
import type { FileSearch } from '../core/file-search.ts'
import type { AttemptOutcome, JournalEntry, Parent, Settlement } from '../core/generation.ts'
import type { ContentLog, ExportContents } from '../core/generation-content.ts'
import type { McpAccess } from '../core/mcp.ts'
import type { InferenceRequest, RoutedRequest } from '../core/request.ts'
import type { Closing, ServerToolUse } from '../core/result.ts'
import type { Snapshot } from '../core/snapshot.ts'
import type { TraceContext } from '../core/trace-context.ts'
import type { WebAccess } from '../core/web-access.ts'
import type { Incoming } from '../http/incoming.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Content } from '../net/content.ts'
import type { Upstream } from '../net/upstream.ts'
import type { TokenPool } from '../plugins/context-compression/token-pool.ts'
import type { Plugin, PluginContext } from '../plugins/plugin.ts'
import type { Tokens } from '../providers/provider.ts'
import type { Admission } from './admission/admit.ts'
import type { Rates } from './admission/rates.ts'
import type { Running } from './admission/running.ts'
import type { ContentRecord } from './content-log/record.ts'
import type { Active } from './plugins/enabled.ts'
import type { Ending, Meter, Metering } from './reply/meter.ts'
import type { Ticker } from './reply/ticker.ts'
import type { CacheOptions } from './response-cache/cache-options.ts'
import type { Lookup } from './response-cache/lookup.ts'
import type { ResponseCache } from './response-cache/store.ts'
import type { Health } from './routing/health.ts'
import type { Meters } from './routing/measurements.ts'
import type { Plan } from './routing/plan.ts'
import type { Conversations } from './routing/stickiness.ts'
import type { Times } from './times.ts'
import type { ApprovedCalls } from './tools/approved-calls.ts'
import type { ContextUse } from './upstream/context-cache/apply.ts'
import type { ContextStore } from './upstream/context-cache/store.ts'
import type { RetryBudget } from './upstream/retry-budget.ts'

/** Fetches a URL through the outbound guard. */
export type FetchContent = (url: string, signal: AbortSignal) => Promise<Content>

/** Contents fetched for one request, as data URLs, by URL. Each is fetched once, for all endpoints. */
export type UrlContents = Map<string, Promise<string>>

/** What an endpoint rejected of one request. */
interface Refused {
  /** The names of rejected parts, which further calls omit. */
  readonly parts: readonly string[]
  /** The attempt in the dialect that the endpoint requires. */
  readonly instead?: Attempt
}

/** Bounds of server tools that no request can lift. */
interface ToolBounds {
  /** Steps of one request. */
  readonly steps: number
  /** Of one call. */
  readonly callMs: number
  /** Of one request. */
  readonly totalMs: number
}

/** The dependencies of every generation. */
export interface RunDeps {
  readonly upstream: Upstream
  readonly health: Health
  readonly retries: RetryBudget
  /** Of requests without `provider.hedge_ms`; 0: they are not hedged. */
  readonly hedgeMs: number
  /** Access tokens of cloud credentials. */
  readonly tokens: Tokens
  now(): number
  random(): number
  /** Waits on the injected clock. Rejects with the signal's reason if it aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  readonly fetchContent: FetchContent
  readonly web: WebAccess
  readonly documents: DocumentReader
  /** The model that reads pages, and the one that searches in files; null: these are searched by words alone. */
  readonly fileModels: { readonly ocr: string; readonly embedding: string | null }
  /** The search in the files of a workspace. */
  filesOf(workspaceId: string): FileSearch
  readonly mcp: McpAccess
  readonly approvedCalls: ApprovedCalls
  readonly tokenPool: TokenPool
  /** Null: prompt prefixes are not cached at providers. */
  readonly contexts: ContextStore | null
  readonly ledger: Ledger
  readonly rates: Rates
  readonly running: Running
  readonly toolBounds: ToolBounds
  readonly ticker: Ticker
  readonly measurements: Pick<Meters, 'of' | 'recentOf'>
  readonly conversations: Conversations
  readonly contents: Pick<ContentLog, 'add'>
  readonly metrics: Pick<Metrics, 'settled' | 'attemptEnded'>
  readonly exportContents: Pick<ExportContents, 'add'>
  /** Seals provider state that clients of a workspace send back with the next request. */
  carrierOf(workspaceId: string): Carrier
  /** In the order in which they see a request. */
  readonly plugins: readonly Plugin[]
  /** Null: the response cache is off. */
  readonly cache: ResponseCache | null
  /** Called for every settled generation, including failed ones; for the log and the measurements. */
  onSettled(settlement: Settlement, caller: Caller, incoming: Incoming): void
  /** Called for failures that can no longer be returned to a caller. */
  onLost(error: unknown, generationId: string, trace: TraceContext): void
}

interface OpenPlugins {
  readonly active: readonly Active[]
  /** Made new for each place that runs plugins: a background response outlives the caller's connection. */
  contextOf(request: InferenceRequest, signal: AbortSignal): PluginContext
  readonly stages: readonly JsonObject[]
}

/** The parent of a step that is about to run, with the caller's request. */
interface OpenParent extends Parent {
  readonly request: RoutedRequest
}

/** What the steps of one generation cost and did until now. Whatever runs for it adds to the same object. */
export interface StepTotals {
  /** With the costs of tools. */
  costNanoUsd: number
  readonly tools: ServerToolUse
}

/** A request as its route has read it: the input of `begin`. */
export interface Opening<Request extends RoutedRequest = RoutedRequest> {
  /** Its body counts in the memory of bodies in flight while the generation runs. */
  readonly incoming: Incoming
  /** The generation's id, if it was needed before the plan. */
  readonly id?: string
  /** The generation that this one is a step of; absent: it is the caller's own. */
  readonly parent?: OpenParent | undefined
  /** The plugins of the request, and the stages that they report; absent: it has none. */
  readonly plugins?: OpenPlugins | undefined
  /** The costs of its steps, which they add to; absent: it has none. */
  readonly steps?: StepTotals | undefined
  readonly snapshot: Snapshot
  readonly caller: Caller
  readonly origin: RequestOrigin
  readonly request: Request
  readonly wantsMetadata: boolean
  /** Absent: the response cache is not used. */
  readonly cache?: CacheOptions | undefined
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  /** Milliseconds since 1970. */
  readonly startedAt: number
}

/** The steps of a request as one generation. */
export interface StepLoop {
  /** The first step's reply, continued by all further steps. Rejects as `dispatch` does. */
  start(): Promise<{ attempt: Attempt; frames: InferenceFrames; dropped: string[] }>
  /** Settles the step that runs, if one does, and returns the sum of all. */
  settle(ending: Ending): Promise<Closing>
}

/**
 * One generation, from its plan to its settlement. A request has one such object, created with all its fields and passed
 * from stage to stage (`pipeline.ts`). It is settled exactly once.
 */
export interface Generation<Kind extends Metering = Metering, Request extends RoutedRequest = RoutedRequest> {
  readonly id: string
  readonly deps: RunDeps
  readonly opening: Opening<Request>
  /** The steps of a request with server tools, of which this is the first; null without such tools. */
  loop: StepLoop | null
  readonly request: Request
  readonly caller: Caller
  readonly startedAt: number
  readonly wantsMetadata: boolean
  readonly plan: Plan
  readonly times: Times
  /** The reservation. */
  readonly admission: Admission
  /** The plan's attempts that limits admit, with an output bound if a spending limit sets one. */
  readonly attempts: Attempt[]
  readonly cached: Lookup | undefined
  readonly meter: Kind
  /** Cancelled when the caller disconnects, and at shutdown. */
  readonly cancellation: Cancellation
  /** Records its contents for the log; null if they are not logged. */
  readonly content: ContentRecord | null
  /** The journal row of the current attempt, which is settled after a crash. */
  journal: JournalEntry

  // Written by attempts, so that it exists even if all of them fail.
  readonly tries: AttemptOutcome[]
  /** The bodies sent to providers, in order; null if they are not echoed. */
  readonly sentBodies: JsonObject[] | null
  /** The current or last attempt. */
  current: Attempt | null
  /** A provider has accepted the request, so a disconnect from now on may be billed. */
  isSent: boolean
  /** When a provider's reply started, perhaps still without content; null before that. */
  replyStartedAt: number | null
  /** Contents fetched from the request's URLs; null: none was fetched. */
  contents: UrlContents | null
  /** The owner of cached prompt prefixes at providers; null: none may be cached. */
  readonly contextOwner: string | null
  /** The cached prefix that the last call used, if one may be cached. */
  context: ContextUse | null
  /** The cached prefix of a rejected call: if the next call without it succeeds, it was the cause. */
  suspect: ContextUse | null
  /** What was left out of the conversation for the last call, as the routing metadata shows it; null: nothing. */
  shortened: JsonObject | null
  /** Parts of the request that endpoints rejected; null: none. */
  refused: Map<Attempt, Refused> | null

  /** The caller's parameters that could not be sent to the answering endpoint. */
  dropped: string[]
  /** The frames of the reply are counted already: their writer does not count them again. */
  isCounted: boolean
  /** The attempt that replied completely. */
  answered: Attempt | null
  /** Called once the row of a complete reply is committed, so that records that refer to it are written after it. */
  onComplete: ((costNanoUsd: number) => void) | null
  settling: Promise<Closing> | null
}

export type Conversation = Generation<Meter, InferenceRequest>
