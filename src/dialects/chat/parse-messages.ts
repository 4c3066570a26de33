import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { asText, defined, restOf } from '../../core/json.ts'
import type { ContentPart, Message, ToolCall } from '../../core/request.ts'
import { words } from '../../core/words.ts'
import { checkImageUrl, isImageData } from '../image-data.ts'
import type { ChatContent, ChatMessage, ChatToolCall } from './schema-messages.ts'

/**
 * Checked chat messages → neutral ones. What the neutral form has no place for goes to `extra`. Throws a `GatewayError`
 * 400 that names the field for a tool's message that answers no call before it, and for invalid images.
 */
export function readMessages(messages: readonly ChatMessage[]): Message[] {
  let callIds: Set<string> | undefined
  return messages.map((message, index) => {
    if (message.role === 'tool' && !callIds?.has(message.tool_call_id)) {
      throw badRequest('answers no tool call of the messages before it', `messages[${index}].tool_call_id`)
    }
    const read = readMessage(message, index)
    if (read.toolCalls !== undefined) {
      callIds ??= new Set()
      for (const { id } of read.toolCalls) callIds.add(id)
    }
    return read
  })
}

const KNOWN = new Set(
  words('role content name tool_calls reasoning reasoning_content reasoning_details refusal tool_call_id'),
)

function readMessage(message: ChatMessage, index: number): Message {
  const { role, content = null } = message
  const parsed: Message = {
    role,
    content: Array.isArray(content) ? readParts(content, index) : content,
    name: message.name ?? undefined,
    extra: restOf(message, KNOWN),
    toolCallId: message.role === 'tool' ? message.tool_call_id : undefined,
  }
  if (message.role !== 'assistant') return parsed
  const calls = message.tool_calls?.map((call, i) =>
    readToolCall(call, `messages[${index}].tool_calls[${i}]`),
  )
  if (calls && calls.length > 0) parsed.toolCalls = calls
  parsed.reasoning = message.reasoning ?? reasoningContentOf(message)
  parsed.reasoningDetails = message.reasoning_details ?? undefined
  parsed.refusal = message.refusal ?? undefined
  return parsed
}

/** The other name of the field, which several vendors want replayed. */
function reasoningContentOf(message: JsonObject): string | undefined {
  const { reasoning_content } = message
  return asText(reasoning_content)
}

const readParts = (content: readonly ChatPart[], index: number): ContentPart[] =>
  content.map((part, i) => readPart(part, `messages[${index}].content[${i}]`))

type ChatPart = Exclude<ChatContent, string>[number]

const TEXT = new Set(['type', 'text'])
const IMAGE = new Set(['type', 'image_url'])
const AUDIO = new Set(['type', 'input_audio'])
const FILE = new Set(['type', 'file'])
const VIDEO = new Set(['type', 'video_url'])

function readPart(part: ChatPart, at: string): ContentPart {
  if (part.type === 'text' && 'text' in part) {
    return defined({ type: 'text', text: part.text, extra: extraOf(part, TEXT) })
  }
  if (part.type === 'image_url' && 'image_url' in part) {
    const { image_url } = part
    const { url, detail = null } = typeof image_url === 'string' ? { url: image_url } : image_url
    checkImage(url, typeof image_url === 'string' ? `${at}.image_url` : `${at}.image_url.url`)
    return defined({ type: 'image', url, detail: detail ?? undefined, extra: extraOf(part, IMAGE) })
  }
  if (part.type === 'input_audio' && 'input_audio' in part) {
    const { data, format } = part.input_audio
    return defined({ type: 'audio', data, format, extra: extraOf(part, AUDIO) })
  }
  if (part.type === 'file' && 'file' in part) {
    const data = part.file.file_data ?? undefined
    const fileId = part.file.file_id ?? undefined
    const filename = part.file.filename ?? undefined
    if (data === undefined && fileId === undefined) {
      throw badRequest('must have file_data (a data URL or an https URL) or file_id', `${at}.file`)
    }
    return defined({ type: 'file', data, fileId, filename, extra: extraOf(part, FILE) })
  }
  if (part.type !== 'text' && 'video_url' in part) {
    return defined({ type: 'video', url: part.video_url.url, extra: extraOf(part, VIDEO) })
  }
  return { type: 'unknown', data: { ...part } }
}

/** The other fields of a part; a `cache_control` of null counts as absent. */
function extraOf(part: JsonObject, known: ReadonlySet<string>): JsonObject | undefined {
  const { cache_control, ...unmarked } = part
  return restOf(cache_control === null ? unmarked : part, known)
}

const SCHEME = /^[a-z][a-z0-9+.-]*:/i

/** Addresses are checked where it is known which may be called. Some vendors take an image's base64 alone. */
function checkImage(url: string, at: string): void {
  if (/^data:/i.test(url)) checkImageUrl(url, at)
  else if (!SCHEME.test(url) && !isImageData(url)) throw badRequest('must be an https URL or a data URL', at)
}

const CALL = new Set(['id', 'type', 'function', 'custom'])

/** A call of an OpenAI custom tool has free text for arguments; its type travels in `extra`. */
function readToolCall(call: ChatToolCall, at: string): ToolCall {
  const { id, function: called, custom } = call
  const type = call.type ?? 'function'
  const rest = restOf(call, CALL)
  if (type === 'custom' && custom) {
    return { id, name: custom.name, arguments: custom.input, extra: { ...rest, type } }
  }
  if (called) {
    const extra = type === 'function' ? rest : { ...rest, type }
    return defined({ id, name: called.name, arguments: called.arguments, extra })
  }
  if (type === 'function' || type === 'custom') {
    throw badRequest(`is required on a tool call of type "${type}"`, `${at}.${type}`)
  }
  return { id, name: type, arguments: '{}', extra: { ...rest, type } }
}
