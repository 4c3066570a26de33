import { base64Of, dataUrlHead } from '../../core/data-url.ts'
import type { JsonObject } from '../../core/events.ts'
import { asFilledText, defined } from '../../core/json.ts'
import type { ContentPart } from '../../core/request.ts'
import { type Drop, leaveOut } from '../dropped.ts'
import { cacheMarkOf, isBlank, isOwnBlock } from './fields.ts'

/**
 * | part | block |
 * |---|---|
 * | text | `text`; one without a visible character is left out, the API refuses it |
 * | image | `image`, from base64 or an address |
 * | file | `document` from base64, plain text, an address or a file id; `image` for a data URL of one |
 * | unknown: a tool that the provider ran, and its result | as it came |
 * | audio, video, other unknown ones | dropped by name |
 */
export function writePart(part: ContentPart, drop: Drop): JsonObject[] {
  switch (part.type) {
    case 'text':
      return isBlank(part.text) ? [] : [{ type: 'text', text: part.text, ...cacheMarkOf(part.extra) }]
    case 'image':
      if (part.detail !== undefined && part.detail !== 'auto') drop('image_url.detail')
      return [{ type: 'image', source: sourceOf(part.url), ...cacheMarkOf(part.extra) }]
    case 'file':
      return writeFile(part, drop)
    case 'audio':
      return leaveOut('content.input_audio', drop)
    case 'video':
      return leaveOut('content.video_url', drop)
    case 'unknown':
      return isOwnBlock(part.data) ? [part.data] : leaveOut(`content.${String(part.data.type)}`, drop)
  }
}

function writeFile(part: Extract<ContentPart, { type: 'file' }>, drop: Drop): JsonObject[] {
  const { data, fileId, filename, extra } = part
  const mark = cacheMarkOf(extra)
  const document = (source: JsonObject): JsonObject[] => [
    defined({ type: 'document', source, title: asFilledText(filename), ...mark }),
  ]
  if (data === undefined) return fileId === undefined ? [] : document({ type: 'file', file_id: fileId })
  const source = sourceOf(data)
  const type = String(source.media_type ?? 'application/pdf')
  if (type.startsWith('image/')) return [{ type: 'image', source, ...mark }]
  if (type === 'application/pdf') return document(source)
  if (!/^text\/|json$|xml$/.test(type)) return leaveOut('content.file', drop)
  const text = new TextDecoder().decode(Buffer.from(String(source.data), 'base64'))
  return document({ type: 'text', media_type: 'text/plain', data: text })
}

/** A data URL's bytes, an address, or what is neither: base64 of a PDF, the one kind that comes bare. */
export function sourceOf(url: string): JsonObject {
  const head = dataUrlHead(url)
  if (head) {
    const type = (head.mediaType || 'text/plain').toLowerCase()
    return { type: 'base64', media_type: type, data: base64Of(url, head) }
  }
  if (/^https?:/i.test(url)) return { type: 'url', url }
  return { type: 'base64', media_type: 'application/pdf', data: url }
}
