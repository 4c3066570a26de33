import type { JsonObject, ReasoningDetail } from '../../core/events.ts'
import {
  asFilledText,
  defined,
  fieldsOf,
  isObject,
  isString,
  isText,
  restOf,
  textOfPart,
} from '../../core/json.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { OptionalPart } from '../dialect.ts'

/**
 * Items of the Responses API (`input`, `output`) and what they are in neutral messages, both ways.
 *
 * | item | neutral |
 * |---|---|
 * | `message` (or no type) of any role | a message of that role |
 * | … `input_text`, `output_text`, `text` | part `text` |
 * | … `input_image` with `image_url` | part `image` (`url`, `detail`) |
 * | … `input_file` | part `file`: `data` is `file_data` or `file_url`, `fileId` is `file_id` |
 * | … `input_audio` | part `audio` |
 * | … `input_video` | part `video` |
 * | … `refusal` | the message's `refusal` |
 * | … `phase` | `extra.phase` of the message |
 * | `reasoning` | `reasoningDetails` of the assistant message that it leads to (see `detailsOfItem`) |
 * | `function_call` | a tool call (`id` is `call_id`) of an assistant message |
 * | `custom_tool_call` | a tool call with `extra.type: 'custom'`; `arguments` is its free text `input` |
 * | `function_call_output`, `custom_tool_call_output` | a message of role `tool` (`toolCallId` is `call_id`) |
 * | any other | part `unknown` of an assistant message: the item itself, for this dialect alone |
 *
 * Reasoning, message and calls that follow each other are one assistant message.
 */
export const ITEM = {
  message: 'message',
  reasoning: 'reasoning',
  functionCall: 'function_call',
  functionCallOutput: 'function_call_output',
  customToolCall: 'custom_tool_call',
  customToolCallOutput: 'custom_tool_call_output',
  imageGenerationCall: 'image_generation_call',
  webSearchCall: 'web_search_call',
  fileSearchCall: 'file_search_call',
  mcpCall: 'mcp_call',
  mcpListTools: 'mcp_list_tools',
  mcpApprovalRequest: 'mcp_approval_request',
  mcpApprovalResponse: 'mcp_approval_response',
  itemReference: 'item_reference',
} as const

/**
 * The `data` of `native` events of this dialect, for a writer of the same dialect.
 *
 * `event` is an event of a stream as it came (its `sequence_number` is upstream's):
 * - complete `response.output_item.added` and `.done` of EVERY item, around the neutral events that its content
 *   became. A reply that was not streamed has `response.output_item.done` alone, after those neutral events
 * - every event that has no neutral form (`response.web_search_call.searching`, `….partial_image`, unknown ones)
 *
 * Events whose content is in neutral ones (deltas, `….done`, content parts) are left out.
 *
 * `response` has the fields of upstream's response object but `output` and `usage`: once at the start and once at
 * the end of a stream, once in a unary reply.
 */
export interface ResponsesNative {
  event?: JsonObject
  response?: JsonObject
}

export const isResponsesNative = (data: unknown): data is ResponsesNative =>
  isObject(data) &&
  (data.event === undefined || isObject(data.event)) &&
  (data.response === undefined || isObject(data.response))

/** The response without the fields that other events carry, and with the other fields of its last event. */
export const shownOf = (response: JsonObject, event: JsonObject): JsonObject => ({
  ...restOf(response, WRITTEN_FIELDS),
  ...restOf(event, AROUND),
})
const WRITTEN_FIELDS = new Set(['output', 'usage'])
const AROUND = new Set(['type', 'response', 'sequence_number'])

/** True for the id of an item that the gateway made: the id of its reply, and its place there. */
export const isOwnItemId = (id: unknown): id is string =>
  isString(id) && /^[a-z]+_[0-9a-f]{32}_\d{1,6}$/.test(id)

/**
 * An item of what ran at the provider, which takes it back as it came. OpenAI rejects Anthropic's blocks of similar names:
 * `mcp_tool_…`, and a `compaction` with a `content`.
 */
export const isOwnItem = ({ type, content }: JsonObject): boolean =>
  isString(type) &&
  type !== ITEM.functionCall &&
  type !== ITEM.customToolCall &&
  /_call(_output)?$|^mcp_(?!tool_)|^compaction$|^item_reference$/.test(type) &&
  !(type === 'compaction' && content !== undefined)

/** How the reasoning details of this dialect are marked: details of other formats mean nothing to its providers. */
export const REASONING_FORMAT = 'openai-responses-v1'
/** The format of details without one: their text is not OpenAI's, and OpenAI rejects it. */
export const UNKNOWN_FORMAT = 'unknown'

/**
 * The details of one `reasoning` item, in its order: `reasoning.summary` for each part of `summary`,
 * `reasoning.text` for each of `content`, `reasoning.encrypted` for `encrypted_content`. Each has the item's `id`;
 * `index` counts up from `firstIndex`, and pieces of one part that was streamed share theirs.
 */
export function detailsOfItem(item: JsonObject, firstIndex: number): ReasoningDetail[] {
  const shared = sharedFields(item)
  const details: ReasoningDetail[] = []
  const add = (detail: ReasoningDetail): void => {
    details.push({ ...detail, ...shared, index: firstIndex + details.length })
  }
  for (const summary of textsOf(item.summary)) add({ type: 'reasoning.summary', summary })
  const texts = textsOf(item.content)
  const { signature, encrypted_content } = item
  texts.forEach((text, i) => {
    const isSigned = i === texts.length - 1 && isText(signature)
    add({ type: 'reasoning.text', text, ...(isSigned ? { signature } : {}) })
  })
  if (texts.length === 0 && isText(signature)) add({ type: 'reasoning.text', signature })
  if (isText(encrypted_content)) add({ type: 'reasoning.encrypted', data: encrypted_content })
  return details
}

/** True for visible text without a format, signature or encrypted content. */
export const isOnlyText = ({ format, content, signature, encrypted_content }: JsonObject): boolean =>
  !isText(format) && !isText(signature) && !isText(encrypted_content) && textsOf(content).length > 0

/** The fields that every detail of an item has. */
export const sharedFields = ({ id, format }: JsonObject): JsonObject => ({
  ...(isText(id) ? { id } : {}),
  format: asFilledText(format) ?? REASONING_FORMAT,
})

interface Thought {
  id: unknown
  format: unknown
  summary: Map<unknown, string>
  content: Map<unknown, string>
  signature?: string
  encrypted?: string
}

/**
 * Details → `reasoning` items, the inverse of `detailsOfItem`, from those of other formats too (their item has a
 * `format`, and has the `signature`). Pieces with one index are one part, parts with one id one item; encrypted content
 * ends an item, for xAI gives several of a response one id (2026). Without ids a signature ends it too, and a text of
 * another index begins one.
 */
export function itemsOfDetails(details: readonly JsonObject[]): JsonObject[] {
  const thoughts: Thought[] = []
  for (const detail of details) {
    let thought = thoughts.at(-1)
    if (thought === undefined || !belongs(detail, thought)) {
      thought = { id: detail.id, format: detail.format, summary: new Map(), content: new Map() }
      thoughts.push(thought)
    }
    addDetail(thought, detail)
  }
  return thoughts.map(viewThought)
}

function belongs(detail: JsonObject, { id, format, content, signature, encrypted }: Thought): boolean {
  if (encrypted !== undefined || detail.format !== format) return false
  if (isText(detail.id) || isText(id)) return detail.id === id
  if (signature !== undefined) return false
  return detail.type !== 'reasoning.text' || content.size === 0 || content.has(detail.index)
}

function addDetail(thought: Thought, { type, summary, text, signature, data, index }: JsonObject): void {
  if (type === 'reasoning.summary' && isString(summary)) append(thought.summary, index, summary)
  if (type === 'reasoning.text' && isString(text)) append(thought.content, index, text)
  if (isText(signature)) thought.signature = signature
  if (type === 'reasoning.encrypted' && isText(data)) thought.encrypted = data
}

function append(parts: Map<unknown, string>, index: unknown, text: string): void {
  parts.set(index, (parts.get(index) ?? '') + text)
}

function viewThought({ id, format, summary, content, signature, encrypted }: Thought): JsonObject {
  // Only OpenAI's providers encrypt.
  const isOwn = isText(format) ? format === REASONING_FORMAT : encrypted !== undefined
  return defined({
    type: ITEM.reasoning,
    id: asFilledText(id),
    summary: [...summary.values()].map((text) => ({ type: 'summary_text', text })),
    content:
      content.size > 0 ? [...content.values()].map((text) => ({ type: 'reasoning_text', text })) : undefined,
    encrypted_content: encrypted,
    format: isOwn ? undefined : (format ?? UNKNOWN_FORMAT),
    signature,
  })
}

/** The texts of parts that have some. */
export function textsOf(parts: unknown): string[] {
  if (!Array.isArray(parts)) return []
  return parts.map(textOfPart).filter((text) => text !== '')
}

export const ENCRYPTED_REASONING = 'reasoning.encrypted_content'

/** `Your organization must be verified to generate reasoning summaries` (public issues of 2025 and 2026). */
const UNVERIFIED = /reasoning summar|reasoning\.summary/i
/** `Encrypted content is not supported with this model` (public issues of 2025 and 2026). */
const NOT_ENCRYPTED = /encrypted[ _]content is not supported/i
/**
 * What another account or provider has encrypted, after a fail-over or with a new key: `The encrypted content … could
 * not be verified` (OpenAI, Azure), `Could not decrypt the provided encrypted_content` (xAI; public issues of 2026).
 */
const FOREIGN = /encrypted[ _]content/i

/** Parts that some providers of this dialect reject although the caller can do without them. */
export function optionalPartsOf(body: JsonObject, request: InferenceRequest): OptionalPart[] | undefined {
  const { reasoning, include, input } = body
  const optionalParts: OptionalPart[] = []
  if (isObject(reasoning) && reasoning.summary !== undefined && request.reasoning?.summary === undefined)
    optionalParts.push(WITHOUT_SUMMARY)
  if (Array.isArray(include) && include.includes(ENCRYPTED_REASONING)) optionalParts.push(WITHOUT_ENCRYPTING)
  if (Array.isArray(input) && input.some(isEncrypted)) optionalParts.push(WITHOUT_ENCRYPTED)
  return optionalParts.length === 0 ? undefined : optionalParts
}

const WITHOUT_SUMMARY: OptionalPart = {
  without: 'reasoning.summary',
  isRefused: (reason) => UNVERIFIED.test(reason),
  bodyFrom({ reasoning, ...others }) {
    const { summary: _, ...rest } = fieldsOf(reasoning)
    return Object.keys(rest).length > 0 ? { ...others, reasoning: rest } : others
  },
}

const WITHOUT_ENCRYPTING: OptionalPart = {
  without: `include.${ENCRYPTED_REASONING}`,
  isRefused: (reason) => NOT_ENCRYPTED.test(reason),
  bodyFrom({ include, ...others }) {
    const rest = Array.isArray(include) ? include.filter((name: unknown) => name !== ENCRYPTED_REASONING) : []
    return rest.length > 0 ? { ...others, include: rest } : others
  },
}

const WITHOUT_ENCRYPTED: OptionalPart = {
  without: 'input.reasoning',
  isRefused: (reason) => FOREIGN.test(reason) && !NOT_ENCRYPTED.test(reason),
  bodyFrom: (body) => ({
    ...body,
    input: Array.isArray(body.input) ? body.input.filter((item: unknown) => !isEncrypted(item)) : body.input,
  }),
}

const isEncrypted = (item: unknown): boolean =>
  isObject(item) &&
  item.type === ITEM.reasoning &&
  isString(item.encrypted_content) &&
  item.encrypted_content !== ''
