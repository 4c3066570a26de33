import type { Carrier } from './carrier.ts'
import type { DialectName, JsonObject } from './events.ts'
import type { PluginOptions } from './plugin-options.ts'
import type { SearchResult } from './web-access.ts'

/** The kind of inference, as the generation record names it (`api_type`). */
export type ApiType =
  | 'completions'
  | 'responses'
  | 'messages'
  | 'gemini'
  | 'embeddings'
  | 'image'
  | 'rerank'
  | 'moderation'
  | 'ocr'
  | 'tts'
  | 'stt'

export type Effort = 'max' | 'xhigh' | 'high' | 'medium' | 'low' | 'minimal' | 'none'

/** A piece of a message. Marks such as `cache_control` and unknown fields travel in `extra`. */
export type ContentPart =
  | { type: 'text'; text: string; extra?: JsonObject }
  | { type: 'image'; url: string; detail?: string; extra?: JsonObject }
  | { type: 'audio'; data: string; format: string; extra?: JsonObject }
  | { type: 'file'; data?: string; fileId?: string; filename?: string; extra?: JsonObject }
  | { type: 'video'; url: string; extra?: JsonObject }
  /** A part of a type that we do not know: only its own dialect can carry it. */
  | { type: 'unknown'; data: JsonObject }

export interface ToolCall {
  id: string
  name: string
  /** JSON text, as the model wrote it: perhaps not parseable. */
  arguments: string
  extra?: JsonObject
}

export interface Message {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool'
  /** A plain string stays a string, so that a writer of the same dialect preserves its form. */
  content: string | ContentPart[] | null
  name?: string
  /** On `assistant` messages. */
  toolCalls?: ToolCall[]
  reasoning?: string
  /** Opaque, replayed unchanged. */
  reasoningDetails?: JsonObject[]
  refusal?: string
  /** On `tool` messages: the call that this answers. */
  toolCallId?: string
  extra?: JsonObject
}

export interface FunctionTool {
  type: 'function'
  name: string
  description?: string
  parameters?: JsonObject
  strict?: boolean
  extra?: JsonObject
}
/** Built-in and server tools, and any that we do not know, as they came. */
interface OtherTool {
  type: 'other'
  data: JsonObject
}
export type Tool = FunctionTool | OtherTool

export type ToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | { type: 'function'; name: string }
  | { type: 'other'; data: JsonObject }

export interface Reasoning {
  effort?: Effort
  maxTokens?: number
  enabled?: boolean
  /** Reason, but do not show it. */
  exclude?: boolean
  summary?: string
  extra?: JsonObject
}

/** The caller's routing preferences (the body's `provider`). Slugs are lower case. */
export interface ProviderPreferences {
  order?: string[]
  only?: string[]
  ignore?: string[]
  /** Default true. */
  allowFallbacks: boolean
  requireParameters: boolean
  sort?: 'price' | 'throughput' | 'latency' | 'exacto'
  /** `none`: sort the endpoints of all models together; default `model`: inside each model, models in order. */
  sortPartition?: 'model' | 'none'
  dataCollection?: 'allow' | 'deny'
  zdr?: boolean
  quantizations?: string[]
  /** USD per million tokens (prompt, completion) or per unit (image, request), as decimal strings. */
  maxPrice?: { prompt?: string; completion?: string; image?: string; audio?: string; request?: string }
  /** After so many milliseconds without content a second endpoint is called; 0: never. Absent: as the gateway is set. */
  hedgeMs?: number
  /** Only models whose author permits distillation. */
  enforceDistillableText?: boolean
  /** Tokens per second by percentile: slower endpoints go last. A plain number is `p50`. */
  preferredMinThroughput?: Cutoffs
  /** Seconds by percentile: later endpoints go last. A plain number is `p50`. */
  preferredMaxLatency?: Cutoffs
}

export interface Cutoffs {
  p50?: number
  p75?: number
  p90?: number
  p99?: number
}

export interface Sampling {
  temperature?: number
  topP?: number
  topK?: number
  topA?: number
  minP?: number
  frequencyPenalty?: number
  presencePenalty?: number
  repetitionPenalty?: number
  seed?: number
  stop?: string[]
  logitBias?: Record<string, number>
  logprobs?: boolean
  topLogprobs?: number
}

/** Fields of every kind of request, for routing, the reservation and the record. */
export interface RoutedRequest {
  apiType: ApiType
  /**
   * The caller's dialect and unchanged body: a provider of the same dialect gets a copy of it. Null: the gateway itself
   * made the request (`newConversation`), and each egress writes it from the neutral one.
   */
  dialect: DialectName | null
  body: JsonObject
  /** The body without earlier turns and the content of files, if `body` contains any; for the content log. */
  unexpanded?: JsonObject
  /** In the order to try; the first is `requested` in the routing metadata. Never empty once planned. */
  models: string[]
  /** Ids of models, best first: what a model of the gateway's choice (`sluice/auto`) stands for. Absent: the usual order. */
  automaticOrder?: readonly string[]
  stream: boolean
  preferences: ProviderPreferences
  sessionId?: string
  /** The preset whose settings are in it. */
  presetId?: string
  user?: string
  trace?: JsonObject
  /** What guardrails did to it, for the routing metadata; absent: nothing. */
  pipeline?: JsonObject[]
  /** What the caller asked for, if a plugin chose the models; for the routing metadata. */
  chosen?: { readonly requested: string; readonly strategy: 'fusion' }
  /** The first of its tools that only some providers run, and the gateway does not (`openrouter:bash`). */
  serverTool?: string
  /** What the provider runs in place of the gateway; absent: nothing. */
  delegated?: { readonly plugins: readonly PluginOptions[]; readonly tools: boolean }
  /** Names of the parameters that the caller set, in the catalogue's vocabulary (`supported_parameters`). */
  parameters: string[]
}

/**
 * The caller's body if it is written in `dialect`: a provider of that dialect receives it with its unknown fields, and
 * others may carry fields of it that the neutral request has no place for.
 */
export const bodyIn = ({ dialect, body }: RoutedRequest, written: DialectName): JsonObject | undefined =>
  dialect === written ? body : undefined

/** A caller's request for a conversation in no dialect: each ingress makes one, each egress writes one. */
export interface InferenceRequest extends RoutedRequest {
  messages: Message[]
  /** `messages`, `tools` or `toolChoice` were changed since the parse: those of `body` are outdated, and not sent. */
  rewritten?: true
  tools: Tool[]
  toolChoice?: ToolChoice
  parallelToolCalls?: boolean
  responseFormat?: JsonObject
  reasoning?: Reasoning
  sampling: Sampling
  /** The bound on output tokens that the caller set; undefined where it set none. */
  maxOutputTokens?: number
  /** Number of choices (`n`), each up to the output limit; undefined: one. */
  choiceCount?: number
  modalities?: string[]
  serviceTier?: string
  metadata?: Record<string, string>
  /** Echo the body that was sent upstream as the first chunk (streams only). */
  echoUpstreamBody: boolean
  /** Headers of the caller that a provider of the same dialect is sent too, by their names in lower case. */
  headers?: Readonly<Record<string, string>>
  /** What only the caller's own dialect can carry, by name: reported as dropped if the provider speaks another one. */
  ownFields?: readonly string[]
  /** Parts of the body that the gateway could not open and left out, by name: named as dropped in every dialect. */
  unreadable?: readonly string[]
  /** The enabled plugins, set by the request, its preset, the workspace or a guardrail; absent: none. */
  plugins?: readonly PluginOptions[]
  /** Encrypts state that the client sends back with its next request. */
  carrier?: Carrier
  /** Pages of the web that were given to the model: a link to one of them in the answer becomes a citation. */
  sources?: readonly SearchResult[]
  /** The files that were read for the model, as annotations of a chat reply. */
  fileAnnotations?: readonly JsonObject[]
  /** The caller's client breaks on events that the vendor of its dialect does not send. */
  strictEvents?: boolean
  /** A step of a loop of the gateway's own tools. */
  isLoop?: boolean
  /** The caller's client sees a failed response only by an `error` of its last event. */
  errorInEvent?: boolean
  /** The caller of chat completions wants to see the calls of the gateway's own tools. */
  showsToolEvents?: boolean
}

/** A conversation that the gateway itself begins. */
export const newConversation = (
  fields: Pick<InferenceRequest, 'models' | 'messages'> & Partial<InferenceRequest>,
): InferenceRequest => ({
  apiType: 'completions',
  dialect: null,
  body: { messages: fields.messages },
  stream: false,
  preferences: { allowFallbacks: true, requireParameters: false },
  parameters: [],
  tools: [],
  sampling: {},
  echoUpstreamBody: false,
  ...fields,
})
