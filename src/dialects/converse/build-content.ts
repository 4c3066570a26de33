import { base64Of, dataUrlHead } from '../../core/data-url.ts'
import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { asText, isObject } from '../../core/json.ts'
import type { ContentPart } from '../../core/request.ts'
import { type Drop, leaveOut } from '../dropped.ts'
import { quoted } from '../mismatch.ts'
import { type Abilities, cachePointFor } from './model.ts'

/** The state that the writers of one request share. */
export interface Writing {
  readonly abilities: Abilities
  /** Empty: unknown, so no modality is excluded. */
  readonly inputModalities: readonly string[]
  readonly drop: Drop
  /** Names of documents so far, each with its last number: names must be unique. */
  readonly documentNames: Map<string, number>
}

/**
 * | part | block |
 * |---|---|
 * | text | `text`; a blank one is left out, because the API rejects it |
 * | image | `image` |
 * | file | `document`; `image` or `video` by its media type |
 * | audio | `audio` |
 * | video | `video` |
 * | `cache_control` | a `cachePoint` behind it |
 * | unknown, or a file's id | dropped by name |
 *
 * Throws a `GatewayError` 400 that names the field below `path` for an unknown format or an address on the web.
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
      return leaveOut(`content.${String(part.data['type'])}`, writing.drop)
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
  const { inputModalities, drop } = writing
  if (inputModalities.length > 0 && !inputModalities.includes('audio')) {
    return leaveOut('content.input_audio', drop)
  }
  return [{ audio: { format: format === 'pcm16' ? 'pcm' : format, source: { bytes: data } } }]
}

function writeFile(
  part: Extract<ContentPart, { type: 'file' }>,
  path: string,
  writing: Writing,
): JsonObject[] {
  const { data, filename, extra } = part
  if (data === undefined) return leaveOut('content.file', writing.drop)
  const content = readContent(data, `${path}.file.file_data`)
  // Clients send bare base64 without a name only for PDF.
  const mediaType = content.mediaType ?? typeByName(filename ?? '.pdf') ?? 'application/pdf'
  const { source } = content
  const image = IMAGES[mediaType]
  if (image !== undefined) return [{ image: { format: image, source } }]
  const video = VIDEOS[mediaType]
  if (video !== undefined) return [{ video: { format: video, source } }]
  const format = DOCUMENTS[mediaType] ?? (/^text\/|json$|xml$|yaml$/.test(mediaType) ? 'txt' : undefined)
  if (format === undefined) return leaveOut('content.file', writing.drop)
  const citations = extra?.['citations']
  const name = documentName(filename, writing.documentNames)
  return [{ document: { format, name, source, ...(isObject(citations) ? { citations } : {}) } }]
}

/** Names have letters, digits, hyphens, brackets and single blanks, and must be unique. */
function documentName(filename: string | undefined, taken: Map<string, number>): string {
  const plain = (asText(filename) ?? '')
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
  // Continues from the last number of this name: a search from 2 would take quadratic time.
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

type Formats = Readonly<Record<string, string>>

/** Media types → Converse's formats. */
const IMAGES: Formats = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
}
const VIDEOS: Formats = {
  'video/mp4': 'mp4',
  'video/quicktime': 'mov',
  'video/x-matroska': 'mkv',
  'video/webm': 'webm',
  'video/x-flv': 'flv',
  'video/mpeg': 'mpeg',
  'video/mpg': 'mpg',
  'video/x-ms-wmv': 'wmv',
  'video/3gpp': 'three_gp',
}
const DOCUMENTS: Formats = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
}

const S3 = /^s3:\/\/[^/]+\/./

/** Inline content, or content in S3, which AWS fetches itself. */
interface Content {
  /** Lower case; undefined if unknown. */
  readonly mediaType: string | undefined
  readonly source: JsonObject
}

/**
 * Reads a data URL, an address of S3, or bare base64. Throws a `GatewayError` 400 at `path` for any other address:
 * Converse fetches nothing from the web.
 */
function readContent(url: string, path: string): Content {
  const head = dataUrlHead(url)
  if (head) {
    const bytes = base64Of(url, head)
    if (bytes === '') throw badRequest('holds no data', path)
    return { mediaType: (head.mediaType || 'text/plain').toLowerCase(), source: { bytes } }
  }
  if (S3.test(url)) return { mediaType: typeByName(url), source: { s3Location: { uri: url } } }
  if (/^[a-z][a-z0-9+.-]*:/i.test(url)) {
    throw badRequest(
      'must be a data URL or an s3:// address: this provider fetches nothing from the web',
      path,
    )
  }
  return { mediaType: undefined, source: { bytes: url } }
}

/** The format of an image or a video. Throws a `GatewayError` 400 that names the allowed formats. */
function formatOf({ mediaType }: Content, formats: Formats, path: string): string {
  const format = mediaType === undefined ? undefined : formats[mediaType]
  if (format !== undefined) return format
  const known = [...new Set(Object.values(formats))].join(', ')
  throw badRequest(`is ${quoted(mediaType ?? 'of no known type')}; this provider takes ${known}`, path)
}

/** The media type by the extension of a name, among Converse's formats. */
function typeByName(name: string): string | undefined {
  const ending = /\.([a-z0-9]{1,5})$/i.exec(name)?.[1]?.toLowerCase()
  const format = ending === undefined ? undefined : (SYNONYMS[ending] ?? ending)
  const types = Object.entries({ ...IMAGES, ...VIDEOS, ...DOCUMENTS })
  return types.find(([, known]) => known === format)?.[0]
}

const SYNONYMS: Formats = { jpg: 'jpeg', htm: 'html', markdown: 'md', text: 'txt', '3gp': 'three_gp' }
