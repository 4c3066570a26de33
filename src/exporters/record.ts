/** What a destination may learn of one settled generation, in words of no vendor. */
import type { JsonObject } from '../core/events.ts'
import type { ExportParameters } from '../core/export-note.ts'
import type { GenerationContent } from '../core/generation-content.ts'
import type { ApiType } from '../core/request.ts'

/**
 * One settled generation as its destination may see it: what the destination's settings withhold is null here, so a
 * kind of destination sends everything that it finds. Times are milliseconds since 1970.
 */
export interface ExportRecord {
  /** `gen-…`. Ids of spans and events are derived from it: a repeated delivery has the same ids. */
  readonly id: string
  readonly requestId: string
  readonly workspace: { readonly id: string; readonly name: string }
  readonly apiType: ApiType | 'tool'
  /** The route of the request, without prefix: `/chat/completions`. */
  readonly route: string
  readonly streamed: boolean
  /** The id of the model that answered, and the one that was asked for. */
  readonly model: string
  readonly requestedModel: string
  /** The provider's slug, its name, and the host that was called (null: unknown). */
  readonly provider: { readonly slug: string; readonly name: string; readonly host: string | null }
  readonly endpointId: string
  /** The provider's id of its answer. */
  readonly upstreamId: string | null
  readonly serviceTier: string | null
  readonly dataRegion: string
  readonly parameters: ExportParameters
  readonly startedAt: number
  /** Null: no content was given. */
  readonly firstContentAt: number | null
  readonly endedAt: number
  readonly attempts: readonly ExportAttempt[]
  readonly usage: ExportUsage
  /** Null unless `broadcast_generation_cost`. */
  readonly cost: ExportCost | null
  readonly finishReason: string
  readonly nativeFinishReason: string | null
  readonly truth: ExportTruth
  /** Null: the generation did not fail. */
  readonly error: ExportError | null
  readonly sessionId: string | null
  readonly presetId: string | null
  /** Who asked; null unless `broadcast_generation_identity`. */
  readonly identity: {
    readonly user: string | null
    readonly keyName: string
    readonly keyHash: string
  } | null
  /** The calling application; null unless `broadcast_generation_request_context`. */
  readonly requestContext: {
    readonly origin: string
    readonly httpReferer: string
    readonly title: string
    readonly userAgent: string
  } | null
  readonly trace: ExportTrace
  /** The string members of the request's `metadata`. */
  readonly metadata: Readonly<Record<string, string>>
  /** The generation that this one is a step of, and what for (`fusion.panel`, `tool` …). */
  readonly parent: { readonly id: string; readonly kind: string } | null
  /** The generation whose answer the response cache gave again. */
  readonly cacheSourceId: string | null
  /**
   * The trace of that generation, unless its caller sent `traceparent`, which the ledger does not have. Null: it is not
   * in the ledger any more.
   */
  readonly cacheSourceTraceId: string | null
  /** Names and actions of the content filters; absent members withhold matched text. */
  readonly guardrails: readonly JsonObject[]
  /** Null: see `contentMissing`. Images and sounds are named by type and size, never included. */
  readonly content: ExportContent | null
  /** Why there is no content; null with content. `full`: there was no room for it. */
  readonly contentMissing: 'privacy' | 'full' | 'expired' | 'unreadable' | null
}

export interface ExportAttempt {
  readonly providerSlug: string
  readonly providerName: string
  readonly model: string
  readonly endpointId: string
  readonly startedAt: number
  readonly endedAt: number
  /** HTTP status; null: no answer. */
  readonly status: number | null
  /** Null: it succeeded. A word (`timeout`, `rate_limited`), never a provider's text. */
  readonly errorType: string | null
  readonly isByok: boolean
}

export interface ExportUsage {
  /** All of the prompt: cached, written, audio and image tokens included. */
  readonly promptTokens: number
  /** All of the answer: reasoning, audio and image tokens included. */
  readonly completionTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  readonly reasoningTokens: number
}

/** Nano-dollars, integers. The parts sum to the total; null: the parts are not known. */
export interface ExportCost {
  readonly totalNanoUsd: number
  readonly promptNanoUsd: number | null
  readonly completionNanoUsd: number | null
  readonly cacheDiscountNanoUsd: number | null
  readonly isByok: boolean
}

/**
 * What the answer was: complete; ended without its end (`truncated`); the client disconnected; a content filter ended it;
 * complete with an estimated usage; from the response cache; failed.
 */
export type ExportTruth =
  | 'complete'
  | 'truncated'
  | 'disconnected'
  | 'filtered'
  | 'estimated'
  | 'cached'
  | 'failed'

export interface ExportError {
  /** A word: `timeout`, `rate_limited`, `provider_error` … */
  readonly type: string
  readonly status: number | null
  /** A sentence of ours; null with `privacy_mode`. */
  readonly message: string | null
}

export interface ExportTrace {
  /** 32 hex digits, never all zero: `trace.trace_id` of the body, else of `traceparent`, else made of the request's id. */
  readonly traceId: string
  /** 16 hex digits: the span of the caller under which the trace hangs; null: the request's span is the root. */
  readonly parentSpanId: string | null
  readonly traceState: string | null
  readonly traceName: string | null
  readonly spanName: string | null
  readonly generationName: string | null
  /** A `trace.trace_id` that is not 32 hex digits: its hash is `traceId`. */
  readonly givenTraceId: string | null
  /** Unknown keys of `trace`. */
  readonly extra: JsonObject
}

export interface ExportContent {
  readonly input: GenerationContent['input']
  readonly output: GenerationContent['output']
  /** Declarations of tools, in the caller's dialect; null: none. */
  readonly tools: readonly unknown[] | null
}
