import { dataUrlHead } from '../../core/data-url.ts'
import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import type { ContentPart } from '../../core/request.ts'
import { dropInto } from '../dropped.ts'

/**
 * | part | Gemini's |
 * |---|---|
 * | text | `text` |
 * | image, video: data URL / https URL | `inlineData` / `fileData` |
 * | audio | `inlineData`, `audio/<format>` |
 * | file: data URL or base64 / https URL / an id of Google's file store | `inlineData` / `fileData` / `fileData` |
 *
 * Left out and named: `detail` of images, names of files, ids of other file stores, marks for caches (they cut the call
 * in two where a cache is made: context-cache.ts), parts of unknown types.
 */
export function writePart(part: ContentPart, leaveOut: LeaveOut): JsonObject[] {
  if (part.type !== 'unknown') leaveOutExtra(part.extra, 'messages.content', leaveOut)
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ text: part.text }]
    case 'image':
      if (part.detail !== undefined && part.detail !== 'auto') {
        leaveOut('messages.content.image_url.detail')
      }
      return [writeMedia(part.url, 'image/jpeg')]
    case 'video':
      return [writeMedia(part.url, 'video/mp4')]
    case 'audio':
      return [inline(`audio/${part.format}`, part.data)]
    case 'file':
      return writeFile(part, leaveOut)
    case 'unknown':
      leaveOut(`content.${String(part.data['type'])}`)
      return []
  }
}

function writeFile(
  { data, fileId, filename }: Extract<ContentPart, { type: 'file' }>,
  leaveOut: LeaveOut,
): JsonObject[] {
  if (filename !== undefined) leaveOut('messages.content.file.filename')
  if (data !== undefined) return [writeMedia(data, typeOfName(filename ?? '') ?? 'application/pdf')]
  if (fileId === undefined) return []
  const uri = /^files\/[\w-]+$/.test(fileId)
    ? `https://generativelanguage.googleapis.com/v1beta/${fileId}`
    : fileId
  if (/^(?:https|gs):\/\//.test(uri)) return [fileData(uri)]
  leaveOut('messages.content.file.file_id')
  return []
}

/** White space in the data of a data URL is forgiven. */
function writeMedia(url: string, usualType: string): JsonObject {
  const head = dataUrlHead(url)
  if (head) {
    const data = url.slice(head.length)
    return inline(head.mediaType || usualType, head.isBase64 ? data : base64Of(data))
  }
  return /^[a-z][a-z0-9+.-]*:/i.test(url) ? fileData(url) : inline(usualType, url)
}

/** Text of a data URL is percent-encoded; what is not is taken as it is. */
function base64Of(text: string): string {
  try {
    return Buffer.from(decodeURIComponent(text)).toString('base64')
  } catch {
    return Buffer.from(text).toString('base64')
  }
}

const inline = (mimeType: string, data: string): JsonObject => ({ inlineData: { mimeType, data } })

/** Vertex demands the type, AI Studio finds it out: it is named where the address shows it. */
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

/** True for the `extra` of what the caller marked: what stands before it, and it itself, is worth keeping. */
export const isMark = (extra: JsonObject | undefined): boolean => isObject(extra?.['cache_control'])

/**
 * Names a mark, for as long as no cache is made of it (inference/context-cache takes the name back then), and always
 * a `ttl` of an hour: caches live for five minutes.
 */
export function leaveOutMark(mark: unknown, leaveOut: LeaveOut): void {
  leaveOut('cache_control')
  if (isObject(mark) && mark['ttl'] === '1h') leaveOut('cache_control.ttl')
}

/** Names the fields of an `extra`, as fields of `of`. */
export function leaveOutExtra(extra: JsonObject | undefined, of: string, leaveOut: LeaveOut): void {
  for (const [name, value] of Object.entries(extra ?? {})) {
    if (name === 'cache_control') leaveOutMark(value, leaveOut)
    else leaveOut(`${of}.${name}`)
  }
}

/** Names what cannot be carried, each name once. */
export type LeaveOut = (name: string) => void

export const leaveOutInto =
  (dropped: string[]): LeaveOut =>
  (name) =>
    dropInto(dropped, name)
