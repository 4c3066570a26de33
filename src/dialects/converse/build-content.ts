import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import type { ContentPart } from '../../core/request.ts'
import { cachePointFor, type Drop } from './marks.ts'
import { DOCUMENTS, formatOf, IMAGES, readContent, typeByName, VIDEOS } from './media.ts'
import type { Abilities } from './model.ts'

/** What the writers of one request share. */
export interface Writing {
  readonly abilities: Abilities
  /** Empty: unknown, so nothing is left out because of it. */
  readonly inputModalities: readonly string[]
  readonly drop: Drop
  /** Names of documents so far, each with the last number given to it: a name may be there once. */
  readonly documentNames: Map<string, number>
}

/**
 * | part | block |
 * |---|---|
 * | text | `text`; a blank one is left out, the API refuses it |
 * | image | `image` |
 * | file | `document`, or what its media type says: `image`, `video` |
 * | audio | `audio` |
 * | video | `video` |
 * | `cache_control` | a `cachePoint` behind it |
 * | unknown, or a file's id | dropped by name |
 *
 * Throws a `GatewayError` 400 that names the field below `path` for what is no image, or an address on the web.
 */
export function writePart(part: ContentPart, path: string, writing: Writing): JsonObject[] {
  const { abilities, drop } = writing
  const blocks = writeBlocks(part, path, writing)
  if (part.type === 'unknown' || blocks.length === 0) return blocks
  return [...blocks, ...cachePointFor(part.extra, abilities, drop)]
}

function writeBlocks(part: ContentPart, path: string, writing: Writing): JsonObject[] {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? [] : [{ text: part.text }]
    case 'image':
      if (part.detail !== undefined && part.detail !== 'auto') writing.drop('image_url.detail')
      return [writeMedia('image', part.url, `${path}.image_url.url`)]
    case 'video':
      return [writeMedia('video', part.url, `${path}.video_url.url`)]
    case 'audio':
      return writeAudio(part, writing)
    case 'file':
      return writeFile(part, path, writing)
    case 'unknown':
      return leaveOut(`content.${String(part.data['type'])}`, writing)
  }
}

function writeMedia(kind: 'image' | 'video', url: string, path: string): JsonObject {
  const content = readContent(url, path)
  const format = formatOf(content, kind === 'image' ? IMAGES : VIDEOS, path)
  return { [kind]: { format, source: content.source } }
}

function writeAudio(
  { data, format }: Extract<ContentPart, { type: 'audio' }>,
  writing: Writing,
): JsonObject[] {
  const { inputModalities } = writing
  if (inputModalities.length > 0 && !inputModalities.includes('audio')) {
    return leaveOut('content.input_audio', writing)
  }
  return [{ audio: { format: format === 'pcm16' ? 'pcm' : format, source: { bytes: data } } }]
}

function writeFile(
  part: Extract<ContentPart, { type: 'file' }>,
  path: string,
  writing: Writing,
): JsonObject[] {
  const { data, filename, extra } = part
  if (data === undefined) return leaveOut('content.file', writing)
  const content = readContent(data, `${path}.file.file_data`)
  // Bare base64 without a name is a PDF, the one kind that comes so.
  const mediaType = content.mediaType ?? typeByName(filename ?? '.pdf') ?? 'application/pdf'
  const { source } = content
  const image = IMAGES[mediaType]
  if (image !== undefined) return [{ image: { format: image, source } }]
  const video = VIDEOS[mediaType]
  if (video !== undefined) return [{ video: { format: video, source } }]
  const format = DOCUMENTS[mediaType] ?? (/^text\/|json$|xml$|yaml$/.test(mediaType) ? 'txt' : undefined)
  if (format === undefined) return leaveOut('content.file', writing)
  const citations = extra?.['citations']
  const name = documentName(filename, writing.documentNames)
  return [{ document: { format, name, source, ...(isObject(citations) ? { citations } : {}) } }]
}

/** Letters, digits, hyphens, brackets and single blanks; two documents of one name are refused. */
function documentName(filename: string | undefined, taken: Map<string, number>): string {
  const plain = (isString(filename) ? filename : '')
    .replace(/\.[A-Za-z0-9]{1,8}$/, '')
    .replace(/[^A-Za-z0-9\s\-()[\]]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 180)
  const base = plain || 'document'
  if (!taken.has(base)) {
    taken.set(base, 1)
    return base
  }
  // The number goes on from the last one of this name: a search from 2 would take quadratic time.
  let number = taken.get(base) ?? 1
  let name = base
  while (taken.has(name)) {
    number += 1
    name = `${base} ${number}`
  }
  taken.set(base, number)
  taken.set(name, 1)
  return name
}

function leaveOut(name: string, { drop }: Writing): [] {
  drop(name)
  return []
}
