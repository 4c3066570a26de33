import type { JsonObject } from '../core/events.ts'
import { asList, isObject, parseJson, textOf } from '../core/json.ts'
import { jsonText } from './json-text.ts'
import { mediaOf } from './media.ts'

/** `type`, and what the schema has for it. */
export type MessagePart = JsonObject & { readonly type: string }

/** A content of a message: a text, a part, or a list of them. Absent contents have no parts. */
export function partsOf(content: unknown): MessagePart[] {
  if (content === null || content === undefined || content === '') return []
  if (Array.isArray(content)) return content.flatMap(partsOf)
  return [isObject(content) ? partOf(content) : textPart(content)]
}

function textPart(content: unknown): MessagePart {
  const media = mediaOf(content)
  if (media !== null) return mediaPart(media.type, media.bytes)
  return { type: 'text', content: typeof content === 'string' ? content : jsonText(content) }
}

/** Images, sounds and files have no bytes here, so they are not `blob`, whose content the schema requires. */
const mediaPart = (mimeType: string, size: number, kind = ''): MessagePart => ({
  type: 'media',
  modality: modalityOf(mimeType, kind),
  mime_type: mimeType,
  size,
})

const modalityOf = (mimeType: string, kind: string): string => {
  const named = `${mimeType} ${kind}`
  return ['image', 'video', 'audio'].find((modality) => named.includes(modality)) ?? 'document'
}

/** A part of any dialect. What the schema has no type for goes as it is: the schema allows other types. */
function partOf(part: JsonObject): MessagePart {
  const type = textOf(part['type'])
  return reasoningPart(part, type) ?? toolPart(part, type) ?? attached(part, type) ?? plainPart(part, type)
}

function plainPart(part: JsonObject, type: string): MessagePart {
  if (typeof part['text'] === 'string' && part['thought'] !== true) return textPart(part['text'])
  if (typeof part['refusal'] === 'string') return { type: 'refusal', content: part['refusal'] }
  return { ...part, type: type || 'unknown' }
}

function reasoningPart(part: JsonObject, type: string): MessagePart | undefined {
  if (type === 'thinking') return { type: 'reasoning', content: textOf(part['thinking']) }
  if (part['thought'] === true) return { type: 'reasoning', content: textOf(part['text']) }
  if (type !== 'reasoning') return undefined
  const texts = [...asList(part['summary']), ...asList(part['content'])].map((item) =>
    isObject(item) ? textOf(item['text']) : textOf(item),
  )
  return { type, content: texts.join('\n') }
}

/** Calls and results as chat, Messages, Responses and Gemini write them. */
function toolPart(part: JsonObject, type: string): MessagePart | undefined {
  const { function: named, functionCall: call, functionResponse: answer } = part
  if (isObject(named)) return callPart(part['id'], named['name'], named['arguments'])
  if (isObject(call)) return callPart(call['id'], call['name'], call['args'])
  if (isObject(answer)) return responsePart(answer['id'] ?? answer['name'], answer['response'])
  if (type === 'tool_use') return callPart(part['id'], part['name'], part['input'])
  if (type === 'tool_result') return responsePart(part['tool_use_id'], resultOf(part['content']))
  if (type === 'function_call')
    return callPart(part['call_id'] ?? part['id'], part['name'], part['arguments'])
  if (type === 'function_call_output') return responsePart(part['call_id'], resultOf(part['output']))
  return undefined
}

const resultOf = (content: unknown): unknown => (Array.isArray(content) ? content.flatMap(partsOf) : content)

const callPart = (id: unknown, name: unknown, given: unknown): MessagePart => ({
  type: 'tool_call',
  ...(typeof id === 'string' ? { id } : {}),
  name: textOf(name),
  arguments: typeof given === 'string' ? (parseJson(given) ?? given) : (given ?? null),
})

const responsePart = (id: unknown, response: unknown): MessagePart => ({
  type: 'tool_call_response',
  ...(typeof id === 'string' ? { id } : {}),
  response: response ?? null,
})

/** Media and files: by URL, by an id at the provider, or by what stands for their bytes. */
function attached(part: JsonObject, type: string): MessagePart | undefined {
  const inner = INNER.map((name) => part[name]).find((value) => value !== undefined)
  if (inner === undefined) return type === 'output_audio' ? attachedOf(part, type) : undefined
  return isObject(inner)
    ? attachedOf(inner, type || INNER.find((name) => name in part) || '')
    : attachedOf({ url: inner, ...part }, type)
}

/** The members in which parts hold their attachment. */
const INNER = [
  'image_url',
  'input_audio',
  'file',
  'source',
  'inlineData',
  'inline_data',
  'fileData',
  'file_data',
  'video_url',
]

function attachedOf(inner: JsonObject, kind: string): MessagePart | undefined {
  const given = [inner['url'], inner['data'], inner['file_data'], inner['fileUri']].find(
    (value) => typeof value === 'string',
  )
  const media = mediaOf(given)
  const mimeType = [inner['media_type'], inner['mimeType'], inner['mime_type']].find(
    (value) => typeof value === 'string',
  )
  if (media !== null)
    return mediaPart(media.type === 'unknown' ? textOf(mimeType) || 'unknown' : media.type, media.bytes, kind)
  const modality = modalityOf(textOf(mimeType), kind)
  const typed = typeof mimeType === 'string' ? { mime_type: mimeType } : {}
  if (typeof given === 'string') return { type: 'uri', modality, ...typed, uri: given }
  const id = inner['file_id'] ?? inner['id']
  return typeof id === 'string' ? { type: 'file', modality, ...typed, file_id: id } : undefined
}
