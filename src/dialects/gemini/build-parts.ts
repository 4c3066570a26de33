import { base64Of, dataUrlHead } from '../../core/data-url.ts'
import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import type { ContentPart } from '../../core/request.ts'
import type { Drop } from '../dropped.ts'

/**
 * | part | Gemini's |
 * |---|---|
 * | text | `text` |
 * | image, video: data URL / https URL | `inlineData` / `fileData` |
 * | audio | `inlineData`, `audio/<format>` |
 * | file: data URL or base64 / https URL / an id of Google's file store | `inlineData` / `fileData` / `fileData` |
 *
 * Dropped by name: `detail` of images, names of files, ids of other file stores, parts of unknown types, and
 * `cache_control` markers (`context-cache.ts` splits the call there if a cache is made).
 */
export function writePart(part: ContentPart, drop: Drop): JsonObject[] {
  if (part.type !== 'unknown') dropExtra(part.extra, 'messages.content', drop)
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ text: part.text }]
    case 'image':
      if (part.detail !== undefined && part.detail !== 'auto') {
        drop('messages.content.image_url.detail')
      }
      return [writeMedia(part.url, 'image/jpeg')]
    case 'video':
      return [writeMedia(part.url, 'video/mp4')]
    case 'audio':
      return [inline(`audio/${part.format}`, part.data)]
    case 'file':
      return writeFile(part, drop)
    case 'unknown': {
      const own = ownPartOf(part.data)
      if (own === null) drop(`content.${String(part.data['type'])}`)
      return own === null ? [] : [own]
    }
  }
}

/** A program that the provider wrote and ran, or its result. Null: another part. */
export function ownPartOf({ type: _, ...part }: JsonObject): JsonObject | null {
  return isObject(part['executableCode']) || isObject(part['codeExecutionResult']) ? part : null
}

function writeFile(
  { data, fileId, filename }: Extract<ContentPart, { type: 'file' }>,
  drop: Drop,
): JsonObject[] {
  if (filename !== undefined) drop('messages.content.file.filename')
  if (data !== undefined) return [writeMedia(data, typeOfName(filename ?? '') ?? 'application/pdf')]
  if (fileId === undefined) return []
  const uri = /^files\/[\w-]+$/.test(fileId)
    ? `https://generativelanguage.googleapis.com/v1beta/${fileId}`
    : fileId
  if (/^(?:https|gs):\/\//.test(uri)) return [fileData(uri)]
  drop('messages.content.file.file_id')
  return []
}

function writeMedia(url: string, usualType: string): JsonObject {
  const head = dataUrlHead(url)
  if (head) return inline(head.mediaType || usualType, base64Of(url, head))
  return /^[a-z][a-z0-9+.-]*:/i.test(url) ? fileData(url) : inline(usualType, url)
}

const inline = (mimeType: string, data: string): JsonObject => ({ inlineData: { mimeType, data } })

/** Vertex requires the media type, so it is sent if the address shows it. AI Studio detects it. */
function fileData(uri: string): JsonObject {
  const mimeType = typeOfName(uri.split(/[?#]/)[0] ?? '')
  return { fileData: mimeType === undefined ? { fileUri: uri } : { mimeType, fileUri: uri } }
}

const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  heic: 'image/heic',
  heif: 'image/heif',
  gif: 'image/gif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  json: 'application/json',
  mp3: 'audio/mp3',
  wav: 'audio/wav',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
}

function typeOfName(name: string): string | undefined {
  const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase()
  return extension !== undefined && Object.hasOwn(TYPES, extension) ? TYPES[extension] : undefined
}

/** True for the `extra` of a part with a `cache_control` marker. */
export const isMark = (extra: JsonObject | undefined): boolean => isObject(extra?.['cache_control'])

/**
 * Drops a `cache_control` marker by name (inference/context-cache removes the name again if a cache is made), and always
 * its `ttl` of an hour: caches live for five minutes.
 */
export function dropMark(mark: unknown, drop: Drop): void {
  drop('cache_control')
  if (isObject(mark) && mark['ttl'] === '1h') drop('cache_control.ttl')
}

/** Drops the fields of an `extra`, named as fields of `of`. */
export function dropExtra(extra: JsonObject | undefined, of: string, drop: Drop): void {
  for (const [name, value] of Object.entries(extra ?? {})) {
    if (name === 'cache_control') dropMark(value, drop)
    else drop(`${of}.${name}`)
  }
}
