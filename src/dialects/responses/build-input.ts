import type { JsonObject } from '../../core/events.ts'
import { defined, isObject, isString, isText } from '../../core/json.ts'
import type { ContentPart, Message, ToolCall } from '../../core/request.ts'
import { type Drop, dropExtras } from '../dropped.ts'
import { carriedBy } from './carried.ts'
import { ITEM, isOwnItem, itemsOfDetails, REASONING_FORMAT } from './items.ts'

/** What a provider takes of former reasoning. */
export interface ReplayRules {
  /** The provider is a gateway: it accepts the reasoning of every provider, with its `format`. */
  readonly anyFormat: boolean
  /** It takes the text of reasoning without its encrypted content: OpenAI looks for such an item in its own store. */
  readonly takesText: boolean
}

/** Neutral messages → `input` items, by the table in `items.ts`. */
export function writeInput(messages: readonly Message[], rules: ReplayRules, drop: Drop): JsonObject[] {
  dropExtras(messages, EXTRAS, drop)
  const customCalls = new Set<string>()
  for (const { toolCalls = [] } of messages) {
    for (const call of toolCalls) if (isCustom(call)) customCalls.add(call.id)
  }
  return messages.flatMap((message) => writeMessage(message, customCalls, rules, drop))
}

const EXTRAS = { message: ['phase'], part: ['prompt_cache_breakpoint'] }

function writeMessage(
  message: Message,
  customCalls: ReadonlySet<string>,
  rules: ReplayRules,
  drop: Drop,
): JsonObject[] {
  const { role, content, toolCallId = '' } = message
  if (message.name !== undefined && role !== 'tool') drop('messages.name')
  if (role === 'tool') {
    const type = customCalls.has(toolCallId) ? ITEM.customToolCallOutput : ITEM.functionCallOutput
    return [{ type, call_id: toolCallId, output: writeOutput(content, drop) }]
  }
  if (role === 'assistant') return writeTurn(message, rules, drop)
  const written = writeContent(content, drop)
  return written.length === 0 ? [] : [{ role, content: written }]
}

/** A former turn of the model: its reasoning, text, calls, and items that only this API has. */
function writeTurn(message: Message, rules: ReplayRules, drop: Drop): JsonObject[] {
  const { content, extra, toolCalls = [] } = message
  const answer = writeAnswer(message, drop)
  const phase = isString(extra?.phase) ? extra.phase : undefined
  const others = Array.isArray(content)
    ? content.flatMap((part) => (part.type === 'unknown' ? [part.data] : []))
    : []
  return [
    ...writeReasoning(message, rules, drop),
    ...others.flatMap((item) => writeOther(item, drop)),
    ...(answer.length === 0
      ? []
      : [
          defined({
            type: isString(answer) ? undefined : ITEM.message,
            role: 'assistant',
            content: answer,
            phase,
          }),
        ]),
    ...toolCalls.map(writeCall),
  ]
}

/** Hosted tools' calls and the like: everything that is an item and no content part. */
function writeOther(item: JsonObject, drop: Drop): JsonObject[] {
  if (isOwnItem(item)) return [item]
  drop(`messages.content.${item.type}`)
  return []
}

const isCustom = ({ extra }: ToolCall): boolean => extra?.type === 'custom'

function writeCall(call: ToolCall): JsonObject {
  const { id, name, arguments: json } = call
  return isCustom(call)
    ? { type: ITEM.customToolCall, call_id: id, name, input: json }
    : { type: ITEM.functionCall, call_id: id, name, arguments: json.trim() === '' ? '{}' : json }
}

function writeReasoning(
  { reasoning, reasoningDetails }: Message,
  rules: ReplayRules,
  drop: Drop,
): JsonObject[] {
  if (reasoningDetails === undefined) {
    if (isText(reasoning)) drop('messages.reasoning')
    return []
  }
  const items = itemsOfDetails(reasoningDetails)
  const sent = items.flatMap((item) => sendable(item, rules))
  if (sent.length < items.length) drop('messages.reasoning_details')
  return sent
}

/**
 * A `reasoning` item as a provider takes it back without having stored it: with its encrypted content, or with the
 * raw text that open models show. A summary alone cannot be replayed (`store: false`: 404 `Item … not found`).
 * `format` and `signature` are fields of gateways, and what we sealed for a caller is opened again.
 */
export function sendable(item: JsonObject, rules: ReplayRules): JsonObject[] {
  const carried = carriedBy(item)
  if (carried) return itemsOfDetails(carried).flatMap((each) => sendable(each, rules))
  if (rules.anyFormat) return [item]
  const { format, signature, ...own } = item
  if (isString(format) && !OWN_FORMATS.has(format)) return []
  const hasText = Array.isArray(own.content) && own.content.some(isObject)
  const isEncrypted = isText(own.encrypted_content)
  return isEncrypted || (hasText && rules.takesText) ? [{ ...own, summary: own.summary ?? [] }] : []
}

/** What OpenRouter calls the reasoning of the providers of this API. */
const OWN_FORMATS = new Set([REASONING_FORMAT, 'azure-openai-responses-v1', 'xai-responses-v1'])

/** The content of a user's or an instruction's message: a plain string stays one. */
function writeContent(content: Message['content'], drop: Drop): string | JsonObject[] {
  if (!Array.isArray(content)) return content ?? ''
  return content.flatMap((part) => writePart(part, drop))
}

/** What a tool answered: text is a string, anything else a list of parts. */
function writeOutput(content: Message['content'], drop: Drop): string | JsonObject[] {
  const parts = writeContent(content, drop)
  if (isString(parts)) return parts
  const [only] = parts
  return parts.length <= 1 && (only === undefined || isString(only.text)) ? String(only?.text ?? '') : parts
}

/** A former answer: one text is a string, as the API's short form of messages has it. */
function writeAnswer({ content, refusal }: Message, drop: Drop): string | JsonObject[] {
  if (isString(content) && refusal === undefined) return content
  const parts: JsonObject[] = []
  for (const part of isString(content) ? [{ type: 'text' as const, text: content }] : (content ?? [])) {
    if (part.type === 'text') parts.push({ type: 'output_text', text: part.text })
    else if (part.type !== 'unknown') drop(`messages.content.${part.type}`)
  }
  if (refusal !== undefined && refusal !== '') parts.push({ type: 'refusal', refusal })
  const [only] = parts
  return parts.length === 1 && isString(only?.text) ? only.text : parts
}

function writePart(part: ContentPart, drop: Drop): JsonObject[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'input_text', text: part.text, ...breakpointOf(part) }]
    case 'image':
      return [
        { type: 'input_image', image_url: part.url, detail: part.detail ?? 'auto', ...breakpointOf(part) },
      ]
    case 'audio':
      return [{ type: 'input_audio', input_audio: { data: part.data, format: part.format } }]
    case 'file':
      return [{ ...writeFile(part), ...breakpointOf(part) }]
    case 'video':
      return [{ type: 'input_video', video_url: part.url }]
    case 'unknown':
      if (isString(part.data.type) && part.data.type.startsWith('input_')) return [part.data]
      drop(`messages.content.${part.data.type}`)
      return []
  }
}

/** OpenAI's own marker for a cached prefix (GPT-5.6 and newer, 2026); chat has it under the same name. */
const breakpointOf = ({ extra }: { extra?: JsonObject }): JsonObject =>
  isObject(extra?.prompt_cache_breakpoint) ? { prompt_cache_breakpoint: extra.prompt_cache_breakpoint } : {}

/** Inline content needs a name; an address or an id must not have one. */
function writeFile({ data, fileId, filename }: Extract<ContentPart, { type: 'file' }>): JsonObject {
  const isUrl = data !== undefined && /^https?:/i.test(data)
  const isContent = data !== undefined && !isUrl
  return defined({
    type: 'input_file',
    file_id: fileId,
    file_url: isUrl ? data : undefined,
    file_data: isContent ? data : undefined,
    filename: isContent ? (filename ?? nameFor(data)) : undefined,
  })
}

function nameFor(data: string): string {
  const [, subtype = 'pdf'] = /^data:[a-z]+\/([a-z0-9]+)/i.exec(data) ?? []
  return `file.${subtype === 'plain' ? 'txt' : subtype}`
}
