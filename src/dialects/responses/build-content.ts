import type { JsonObject } from '../../core/events.ts'
import { defined, isObject, isString } from '../../core/json.ts'
import type { ContentPart, Message } from '../../core/request.ts'

/** Names, once, what cannot be carried. */
export type Drop = (name: string) => void

/** The content of a user's or an instruction's message: a plain string stays one. */
export function writeContent(content: Message['content'], drop: Drop): string | JsonObject[] {
  if (!Array.isArray(content)) return content ?? ''
  return content.flatMap((part) => writePart(part, drop))
}

/** What a tool answered: text is a string, anything else a list of parts. */
export function writeOutput(content: Message['content'], drop: Drop): string | JsonObject[] {
  const parts = writeContent(content, drop)
  if (isString(parts)) return parts
  const [only] = parts
  return parts.length <= 1 && (only === undefined || isString(only.text)) ? String(only?.text ?? '') : parts
}

/** A former answer: one text is a string, as the API's short form of messages has it. */
export function writeAnswer({ content, refusal }: Message, drop: Drop): string | JsonObject[] {
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

/** OpenAI's own mark for what is to be cached (GPT-5.6 and newer, 2026); chat has it under the same name. */
const breakpointOf = ({ extra }: { extra?: JsonObject }): JsonObject =>
  isObject(extra?.prompt_cache_breakpoint) ? { prompt_cache_breakpoint: extra.prompt_cache_breakpoint } : {}

/** Content wants a name beside it, an address or an id takes none. */
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
