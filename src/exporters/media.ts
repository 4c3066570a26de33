import { isObject, type JsonObject } from '../core/json.ts'

/** What stands for media in contents that are exported: `[image/png, 1234 bytes]`. */
const MARKER = /^\[([\w.+-]{1,40}\/[\w.+-]{1,80}|unknown), (\d{1,12}) bytes\]$/
const DATA_URL = /^data:([^,]{0,200}),/
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/
/** No identifier is as long. */
const LEAST_BASE64 = 512
/** Members that name the type of the media beside them. */
const TYPES = ['media_type', 'mime_type', 'mimeType', 'format']
/** Members that hold media as base64, however short; `data` does beside a media type. */
const HOLDERS = new Set(['b64_json', 'file_data'])
/** Members that hold what was written, whatever it looks like. */
const TEXTS = new Set([
  'text',
  'content',
  'prompt',
  'thinking',
  'reasoning',
  'refusal',
  'arguments',
  'output',
  'name',
])

export interface Media {
  readonly type: string
  readonly bytes: number
}

/** The type and size that a text of an exported content has instead of media; null: it is no such text. */
export function mediaOf(text: unknown): Media | null {
  const parts = typeof text === 'string' ? MARKER.exec(text) : null
  return parts === null ? null : { type: parts[1] ?? '', bytes: Number(parts[2]) }
}

/** A copy in which images, sounds and files are named by type and size. Linear in the length of `value`. */
export function withoutMedia(value: unknown): unknown {
  if (typeof value === 'string') return isDataUrl(value) ? markerOf(value, 'unknown') : value
  if (Array.isArray(value)) return value.map(withoutMedia)
  return isObject(value) ? membersWithoutMedia(value) : value
}

function membersWithoutMedia(value: JsonObject): JsonObject {
  const type = typeIn(value)
  const isMedia = (name: string, text: string): boolean => {
    if (isDataUrl(text)) return true
    if (TEXTS.has(name) || !BASE64.test(text)) return false
    return HOLDERS.has(name) || (name === 'data' && type !== null) || text.length >= LEAST_BASE64
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      typeof item === 'string' && isMedia(name, item)
        ? markerOf(item, type ?? 'unknown')
        : withoutMedia(item),
    ]),
  )
}

const isDataUrl = (text: string): boolean => text.startsWith('data:') && DATA_URL.test(text)

function markerOf(text: string, type: string): string {
  const url = DATA_URL.exec(text)
  const named = url === null ? type : (url[1]?.split(';')[0] ?? '')
  const length = text.length - (url?.[0].length ?? 0)
  const isBase64 = url === null || url[1]?.endsWith(';base64') === true
  const bytes = isBase64 ? Math.floor((length * 3) / 4) - padding(text) : length
  return `[${/^[\w.+-]{1,40}\/[\w.+-]{1,80}$/.test(named) ? named : 'unknown'}, ${Math.max(0, bytes)} bytes]`
}

const padding = (text: string): number => (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0)

/** OpenAI's parts name a format, such as `wav`, and only those of audio do. */
function typeIn(value: JsonObject): string | null {
  const named = TYPES.map((name) => value[name]).find((text) => typeof text === 'string')
  if (typeof named !== 'string') return null
  return named.includes('/') ? named : `audio/${named}`
}
