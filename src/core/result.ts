import type { DialectName, Finish, JsonObject, ReasoningDetail, UrlCitation } from './events.ts'
import type { InferenceRequest, ToolCall } from './request.ts'
import type { Usage } from './usage.ts'

/** A complete reply: the events of a stream, collected. */
export interface InferenceResult {
  created: number | null
  choices: ResultChoice[]
  /** Data of `native` events, in order: a writer uses those of its own dialect. */
  natives: { dialect: DialectName; data: unknown }[]
}

export interface ResultChoice {
  index: number
  text: string
  reasoning: string
  reasoningDetails: ReasoningDetail[]
  refusal: string
  toolCalls: ToolCall[]
  annotations: (UrlCitation | JsonObject)[]
  images: string[]
  audio: JsonObject | null
  logprobs: JsonObject | null
  finish: Finish
}

/** Data for the reply writers of every dialect. */
export interface ReplyContext {
  /** The generation's id: the `id` of the reply and of every chunk. */
  generationId: string
  /** Unix seconds. */
  created: number
  /** The public id of the model that answers. */
  model: string
  /** Display name of the provider that answers. */
  providerName: string
  /** The request: some replies repeat it. */
  request: InferenceRequest
  /** The caller asked to hide the reasoning. */
  hideReasoning: boolean
  /** How it was routed so far, for an error event; null where the caller did not opt in. */
  routing?(): RoutingMetadata | null
}

/** The outcome of a settled reply. */
export interface Closing {
  finishes: Finish[]
  /** When it ended, in Unix seconds. */
  completed?: number
  usage: Usage
  costNanoUsd: number
  promptCostNanoUsd: number
  completionCostNanoUsd: number
  isByok: boolean
  serviceTier: string | null
  /** Present when the caller opted in by header. */
  serviceMetadata: RoutingMetadata | null
}

/** api-surface §19. Emitted under `service_metadata` and `openrouter_metadata`. */
export interface RoutingMetadata {
  requested: string
  strategy: string
  summary: string
  attempt: number
  is_byok: boolean
  region: string | null
  endpoints: { total: number; available: { model: string; provider: string; selected: boolean }[] }
  attempts: { model: string; provider: string; status: number }[]
  params?: JsonObject
  pipeline?: JsonObject[]
}

/** The part of a failure that callers may see. */
export interface PublicError {
  status: number
  message: string
  metadata?: JsonObject | undefined
  /** Of the reply, `retry-after` among them. */
  headers?: Readonly<Record<string, string>> | undefined
}
