import type { DialectName } from './dialect-name.ts'
import type { JsonObject } from './json.ts'
import type { Usage } from './usage.ts'

export type { DialectName } from './dialect-name.ts'
export type { JsonObject } from './json.ts'

/** OpenAI's words. `error` is ours: the reply broke off. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'error'

export interface Finish {
  /** 0 unless the caller asked for several choices. */
  choice: number
  reason: FinishReason
  /** The provider's own word; null where it gave none. */
  native: string | null
}

export interface UrlCitation {
  type: 'url_citation'
  url: string
  title: string
  content?: string
  startIndex: number
  endIndex: number
}

/** Of an uploaded file that the gateway has searched. */
export type FileCitation = {
  type: 'file_citation'
  fileId: string
  filename: string
  /** The beginning of the passage that was found. */
  content: string
  /** The text that uses it. */
  startIndex: number
  endIndex: number
}

/** Of a text. Those that only some dialects have are forwarded as they came. */
export type Annotation = UrlCitation | JsonObject

/** A call of one of the gateway's own tools, for writers that show it. */
export interface ServerToolCall {
  id: string
  /** Of the tool, without a prefix. */
  name: string
  /** The type of its entry in the request's `tools`. */
  type: string
  status: 'in_progress' | 'completed' | 'failed'
  arguments: JsonObject
  /** The model's reading of the result; '' while it runs. */
  text: string
  /** The tool's own fields of an output item; empty while it runs. */
  item: JsonObject
  /** The pages that it found. */
  sources?: readonly { readonly url: string; readonly title: string; readonly published?: string }[]
  /** Of a tool of an MCP server: the server's label, and the tool's name there. */
  mcp?: { readonly label: string; readonly tool: string }
  /** Of the request that the user approved. */
  approvalRequestId?: string
  /** It runs only after the user's approval, in a later request. */
  needsApproval?: boolean
}

/** Such a call of a former turn, as a client sends it back. */
export interface FormerCall {
  id: string
  name: string
  /** JSON text. */
  arguments: string
  result: string
}

/** Opaque pieces of reasoning that a later turn must replay unchanged (signatures, encrypted thoughts). */
export type ReasoningDetail = Record<string, unknown> & { type: string }

/**
 * The events of a reply in any dialect. A reply that was not streamed has the same events.
 *
 * Guarantees of every egress reader:
 * - `tool-call-start` comes before the deltas of its `index`, once, with an id and a name; indexes count from 0
 *   in each choice
 * - `usage` may come several times: each one replaces the former
 * - `response-end` comes once, last, and only after a complete reply; the reader of a truncated reply throws instead
 */
export type InferenceEvent =
  | {
      type: 'response-start'
      upstreamId: string | null
      model: string | null
      created: number | null
      /** Absent: not reported yet; it may come with the usage. */
      serviceTier?: string
    }
  | { type: 'text-delta'; choice: number; text: string }
  | { type: 'reasoning-delta'; choice: number; text: string }
  | { type: 'reasoning-detail'; choice: number; detail: ReasoningDetail }
  | { type: 'refusal-delta'; choice: number; text: string }
  | { type: 'tool-call-start'; choice: number; index: number; id: string; name: string; extra?: JsonObject }
  | { type: 'tool-call-delta'; choice: number; index: number; json: string }
  | { type: 'annotation'; choice: number; annotation: Annotation }
  | { type: 'image'; choice: number; url: string }
  | { type: 'audio-delta'; choice: number; audio: JsonObject }
  | { type: 'logprobs'; choice: number; logprobs: JsonObject }
  /** Comes twice: when the call starts, and with its result. Never from a provider. */
  | { type: 'server-tool'; call: ServerToolCall }
  /** A complete block, item or part of the provider's own tools, from a loop of the gateway's, for a writer of its dialect. */
  | { type: 'own-piece'; data: JsonObject }
  /** What the dialect's reader does not know, for a writer of the same dialect. */
  | { type: 'native'; dialect: DialectName; data: unknown }
  | { type: 'usage'; usage: Usage; serviceTier?: string | null }
  | { type: 'response-end'; finishes: Finish[] }

/**
 * The events of one upstream frame (an SSE event, or a complete unary body), so that a writer of the same dialect sends
 * one chunk for each chunk.
 */
export interface InferenceFrame {
  readonly events: readonly InferenceEvent[]
  /**
   * The fast path. A reader sets it if the frame is only text of choice 0, in one event or in several successive ones.
   * `jsons` has the upstream's JSON text of each string without its quotes, ready to be copied into a `data:` line.
   * `events` has the same text in one delta.
   */
  readonly plainText?: { readonly jsons: readonly string[] }
}

/** The frame, or one frame for each of the events that it was read from: a caller gets one chunk for one chunk. */
export function* eachOf(frame: InferenceFrame): Iterable<InferenceFrame> {
  const jsons = frame.plainText?.jsons
  if (jsons === undefined || jsons.length === 1) yield frame
  else for (const json of jsons) yield plainFrame(JSON.parse(`"${json}"`), [json])
}

export const plainFrame = (text: string, jsons: readonly string[]): InferenceFrame => ({
  events: [{ type: 'text-delta', choice: 0, text }],
  plainText: { jsons },
})

/**
 * Frames that were there together, in order; never empty. To hand on costs promises, an encoding and a write, and
 * so is done once for each batch. What fails in the midst of a batch is thrown after the frames before it.
 */
export type FrameBatch = readonly InferenceFrame[]

export type InferenceFrames = AsyncIterable<FrameBatch>

/** True for events that a caller would see as an answer: after the first of them no other endpoint may be tried. */
export function isContent(event: InferenceEvent): boolean {
  switch (event.type) {
    case 'text-delta':
    case 'reasoning-delta':
    case 'refusal-delta':
      return event.text !== ''
    case 'reasoning-detail':
    case 'tool-call-start':
    case 'tool-call-delta':
    case 'annotation':
    case 'image':
    case 'audio-delta':
      return true
    default:
      return false
  }
}

/** The data of a `native` event of `dialect`, for a writer of that dialect; undefined for any other event. */
export const nativeData = <Data>(
  event: InferenceEvent,
  dialect: DialectName,
  isData: (data: unknown) => data is Data,
): Data | undefined =>
  event.type === 'native' && event.dialect === dialect && isData(event.data) ? event.data : undefined
