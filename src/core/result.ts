import type {
  Annotation,
  DialectName,
  Finish,
  InferenceFrame,
  JsonObject,
  ReasoningDetail,
} from './events.ts'
import type { InferenceRequest, ToolCall } from './request.ts'
import type { Usage } from './usage.ts'

/** A complete reply: the events of a stream, collected. */
export interface InferenceResult {
  created: number | null
  choices: ResultChoice[]
  /** Data of `native` events, in order: a writer uses those of its own dialect. */
  natives: { dialect: DialectName; data: unknown }[]
  /** The frames in their order, if the gateway's own tools were called between them. */
  frames?: readonly InferenceFrame[]
}

export interface ResultChoice {
  index: number
  text: string
  reasoning: string
  reasoningDetails: ReasoningDetail[]
  refusal: string
  toolCalls: ToolCall[]
  annotations: Annotation[]
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
  /** The cost of the gateway's own tools, a part of `costNanoUsd`, and how often they ran; absent: they did not. */
  serverTools?: ServerToolUse
  /** Present when the caller opted in by header. */
  serviceMetadata: RoutingMetadata | null
}

/** The use of the gateway's own tools in one request. */
export interface ServerToolUse {
  costNanoUsd: number
  /** Calls that the model made, and those of them that ran. */
  requested: number
  executed: number
  searches: number
}

/** Where a request's time went, in milliseconds. A phase that was not reached is absent. */
export interface Timings {
  /** Reading, authentication, filters, limits and the reservation, waiting for budget included. */
  admit: number
  plan: number
  /** From the first call to the headers of the reply: failed attempts, their pauses and the connection included. */
  connect?: number
  /** From the headers to the first content. */
  first_byte?: number
  /** From the first content to the end of the reply. */
  relay?: number
  commit?: number
}

interface AvailableEndpoint {
  model: string
  provider: string
  selected: boolean
  /** Its place in the plan; 1 is tried first. */
  rank: number
  /**
   * From 0 to 1, by the sort: its figure against the best one's, or the share of valid tool calls. Without a sort, the weight
   * of its price. Null: not measured.
   */
  score: number | null
  /** USD per million tokens, three of the prompt for each one of the completion; null: no price. */
  price: number | null
  /** Medians of this gateway's own requests; null: not measured. */
  latency_ms: number | null
  tokens_per_second: number | null
}

/** api-surface §19, with fields of our own. Emitted under `service_metadata` and `openrouter_metadata`. */
export interface RoutingMetadata {
  requested: string
  strategy: string
  summary: string
  attempt: number
  is_byok: boolean
  region: string | null
  endpoints: {
    total: number
    available: AvailableEndpoint[]
    /** `rule` is a word of `availability.excluded_by`, `cooldown` or `limits`. */
    excluded?: { model: string; provider: string; rule: string; reason: string }[]
  }
  attempts: { model: string; provider: string; status: number; ms: number; code?: string }[]
  /** What makes the conversation prefer the endpoint of earlier turns: its id, or its beginning; null: nothing. */
  sticky?: 'session' | 'prefix' | null
  timings?: Timings
  params?: JsonObject
  pipeline?: JsonObject[]
}

/** The part of a failure that callers may see. */
export interface PublicError {
  status: number
  message: string
  metadata?: JsonObject | undefined
  /** Headers of the reply, including `retry-after`. */
  headers?: Readonly<Record<string, string>> | undefined
}
