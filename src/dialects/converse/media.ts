import { dataUrlHead } from '../../core/data-url.ts'
import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { quoted } from '../values.ts'

type Formats = Readonly<Record<string, string>>

/** Media types → the formats that Converse knows. */
export const IMAGES: Formats = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
}
export const VIDEOS: Formats = {
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
export const DOCUMENTS: Formats = {
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

/** Content that is there, or lies in S3 where AWS fetches it itself. */
export interface Content {
  /** Lower case; undefined where nothing tells it. */
  readonly mediaType: string | undefined
  readonly source: JsonObject
}

/**
 * Reads a data URL, an address of S3, or bare base64. Throws a `GatewayError` 400 at `path` for any other address:
 * Converse fetches nothing from the web.
 */
export function readContent(url: string, path: string): Content {
  const head = dataUrlHead(url)
  if (head) {
    const rest = url.slice(head.length)
    const bytes = head.isBase64 ? rest : Buffer.from(unescaped(rest)).toString('base64')
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

/** The format of what must be an image or a video. Throws a `GatewayError` 400 that says which there are. */
export function formatOf({ mediaType }: Content, formats: Formats, path: string): string {
  const format = mediaType === undefined ? undefined : formats[mediaType]
  if (format !== undefined) return format
  const known = [...new Set(Object.values(formats))].join(', ')
  throw badRequest(`is ${quoted(mediaType ?? 'of no known type')}; this provider takes ${known}`, path)
}

/** What the ending of a name says, among all the formats of Converse. */
export function typeByName(name: string): string | undefined {
  const ending = /\.([a-z0-9]{1,5})$/i.exec(name)?.[1]?.toLowerCase()
  const format = ending === undefined ? undefined : (SYNONYMS[ending] ?? ending)
  const types = Object.entries({ ...IMAGES, ...VIDEOS, ...DOCUMENTS })
  return types.find(([, known]) => known === format)?.[0]
}

const SYNONYMS: Formats = { jpg: 'jpeg', htm: 'html', markdown: 'md', text: 'txt', '3gp': 'three_gp' }

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
