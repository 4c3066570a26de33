import type { FinishReason, JsonObject } from './events.ts'
import type { CallerTrace, ExportNote } from './export-note.ts'
import type { ApiType } from './request.ts'
import type { Usage, UsageSource } from './usage.ts'

export interface PromptMedia {
  readonly images: number
  readonly recordings: number
}

/** The generation that a caller sees, of which another one is a step. Both are reserved, settled and stored alike. */
export interface Parent {
  readonly id: string
  /** What the step is for: `fusion.panel`, `moderation`, `tool` … */
  readonly kind: string
}

/** A label of the caller, to sum usage by: `user`, or `tag:` and the name of a tag. */
export type Label = readonly [name: string, value: string]
export const USER_LABEL = 'user'
export const TAG_LABEL = 'tag:'

/** What is journalled when a request is sent upstream, so that a crash leaves a trace to settle from. */
export interface JournalEntry {
  readonly generationId: string
  readonly keyHash: string
  readonly workspaceId: string
  readonly modelId: string
  readonly providerSlug: string
  readonly providerName: string
  readonly endpointId: string
  /** `tool`: a paid call of a tool of the gateway. */
  readonly apiType: ApiType | 'tool'
  readonly streamed: boolean
  readonly isByok: boolean
  readonly origin: string
  readonly httpReferer: string
  readonly title: string
  readonly userAgent: string
  readonly requestId: string
  readonly sessionId: string | null
  readonly presetId?: string | null
  /** Absent: no other generation needed it. */
  readonly parent?: Parent | undefined
  /** What content filters did to the request; absent: nothing. */
  readonly guardrails?: readonly JsonObject[]
  /** The request's `trace`; absent: none. */
  readonly trace?: JsonObject | undefined
  /** The trace of its caller's header `traceparent`; absent: there was none, or the request's `trace` names another. */
  readonly callerTrace?: CallerTrace | undefined
  readonly externalUser: string | null
  /** What its caller labelled it with, the user first; absent: nothing. */
  readonly labels?: readonly Label[]
  /** Milliseconds since 1970: decides the window that the request books to. */
  readonly startedAt: number
  readonly promptTokensEstimate: number
  /** What of the prompt is not text: images and videos, and recordings; absent: nothing, or it is not known. */
  readonly promptMedia?: PromptMedia
  /** The estimated cost of the prompt, which is charged after a crash. */
  readonly promptCostNanoUsd: number
}

/** One settled generation: a row of the table `generations`, and the answer of GET /generation. */
export interface Settlement extends JournalEntry {
  readonly upstreamId: string | null
  /** Null: the reply was truncated without a known reason. */
  readonly finishReason: FinishReason
  readonly nativeFinishReason: string | null
  /** The client left before the end (or the process died). */
  readonly cancelled: boolean
  readonly usage: Usage
  /** Number of images in the answer, if its usage does not count them; absent: none. */
  readonly answerImages?: number
  /** Of a step that a tool of the gateway ran; absent: nothing was counted. */
  readonly counts?: StepCounts | undefined
  /** Of a complete reply; absent: it called no tool of the request. Not stored. */
  readonly toolCalls?: ToolCallCounts
  readonly usageSource: UsageSource
  readonly costNanoUsd: number
  /** What the caches saved, against the same tokens at the prompt price; null without cached tokens. */
  readonly cacheDiscountNanoUsd: number | null
  /** From the request's arrival to the first content, in milliseconds. */
  readonly latencyMs: number
  /** From the first content to the end, in milliseconds. */
  readonly generationTimeMs: number
  readonly endedAt: number
  readonly serviceTier: string | null
  /** How the model was found: `direct`, `fallback` … */
  readonly router: string
  /** Of `generations.routing`, as JSON; null: a cache hit, or not known. */
  readonly routing: string | null
  /** The source generation of a cache hit; absent: not a cache hit. */
  readonly responseCacheSourceId?: string
  readonly tries: readonly AttemptOutcome[]
  /** Absent: no destination takes generations of its workspace. */
  readonly exported?: ExportNote
}

/** What one step of the gateway's own tools did. */
export interface StepCounts {
  readonly searches?: number
  readonly searchResults?: number
  readonly fetches?: number
  readonly searchEngine?: string
}

export interface ToolCallCounts {
  /** Calls of declared functions, with arguments that are JSON and have every required field. */
  readonly valid: number
  readonly all: number
}

/** How one try ended, for `provider_responses` and the routing metadata. */
export interface AttemptOutcome {
  readonly endpointId: string
  readonly modelId: string
  readonly providerSlug: string
  readonly providerName: string
  readonly upstreamId: string | null
  /** HTTP status; null where nothing was answered. */
  readonly status: number | null
  readonly code: string | null
  readonly latencyMs: number
  /** Milliseconds since 1970; absent: unknown. */
  readonly startedAt?: number
  /** It used a BYOK key. */
  readonly isByok?: boolean
}

/** Whether an attempt gave content. One that a client disconnect or a shutdown ended has neither a status nor a code. */
export const gaveContent = ({ status, code }: AttemptOutcome): boolean => status !== null && code === null
