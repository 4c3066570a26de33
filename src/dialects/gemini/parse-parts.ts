import { defined } from '../../core/json.ts'
import type { ContentPart } from '../../core/request.ts'
import { checkImageData } from '../image-data.ts'
import type { Keep } from './keep.ts'
import type { Part } from './schema.ts'

const KNOWN = new Set(['text', 'thought', 'thoughtSignature', 'inlineData', 'fileData'])

/**
 * | part | neutral |
 * |---|---|
 * | `text` | text |
 * | `inlineData` | image, audio, video, or a file, by its `mimeType` |
 * | `fileData` with an https address | image, video or file, read by whoever is asked |
 * | `fileData` of Google's file store, `gs://` | a file by its id: other providers cannot read it |
 * | anything else | unknown: only this dialect can carry it |
 */
export function readPart(part: Part, at: string, keep: Keep): ContentPart[] {
  const { text, inlineData, fileData } = part
  if (inlineData) {
    keep.rest(part, KNOWN, 'contents.parts.')
    return [readData(inlineData.mimeType, inlineData.data, inlineData.displayName, at)]
  }
  if (fileData) {
    keep.rest(part, KNOWN, 'contents.parts.')
    return [readFile(fileData.fileUri, fileData.mimeType ?? '', fileData.displayName)]
  }
  if (typeof text === 'string') {
    keep.rest(part, KNOWN, 'contents.parts.')
    return text === '' ? [] : [{ type: 'text', text }]
  }
  const type = Object.keys(part).find((name) => !KNOWN.has(name))
  return type === undefined ? [] : [{ type: 'unknown', data: { type, ...part } }]
}

function readData(mimeType: string, data: string, name: string | null | undefined, at: string): ContentPart {
  const url = `data:${mimeType};base64,${data}`
  const [kind, subtype = ''] = mimeType.toLowerCase().split(/[/;]/)
  if (kind === 'image') {
    if (!subtype.startsWith('svg')) checkImageData(data, `${at}.inlineData.data`)
    return { type: 'image', url }
  }
  if (kind === 'audio') return { type: 'audio', data, format: AUDIO[subtype] ?? subtype }
  if (kind === 'video') return { type: 'video', url }
  return defined({ type: 'file', data: url, filename: name || undefined })
}

/** Other words for the same sound. */
const AUDIO: Readonly<Record<string, string>> = { mpeg: 'mp3', 'x-wav': 'wav', wave: 'wav' }

const GOOGLES = /^(?:gs:\/\/|files\/|https:\/\/generativelanguage\.googleapis\.com\/)/i
const VIDEO_SITE = /^https:\/\/(?:(?:www|m)\.)?(?:youtube\.com|youtu\.be)\//i
const DATA_URL = /^data:([^;,]*);base64,/i

function readFile(uri: string, mimeType: string, name: string | null | undefined): ContentPart {
  const inline = DATA_URL.exec(uri)
  if (inline) return readData(inline[1] || mimeType, uri.slice(inline[0].length), name, '')
  if (GOOGLES.test(uri)) return { type: 'file', fileId: uri }
  if (/^image\//i.test(mimeType)) return { type: 'image', url: uri }
  if (/^video\//i.test(mimeType) || VIDEO_SITE.test(uri)) return { type: 'video', url: uri }
  return defined({ type: 'file', data: uri, filename: name || undefined })
}

/** One text is a string, which every provider takes. */
export function plainest(parts: ContentPart[]): string | ContentPart[] {
  const [only] = parts
  return parts.length === 1 && only?.type === 'text' && only.extra === undefined ? only.text : parts
}
