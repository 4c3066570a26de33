import { dataUrlHead } from '../../core/data-url.ts'
import { sniffMediaType } from '../../core/media-type.ts'

/** As many characters of base64 as tell what an image is. */
const HEAD_CHARACTERS = 128
const BASE64 = /^[A-Za-z0-9+/\s]+={0,2}$/

/** The media type of an image in base64 by how it begins; null where that does not tell. */
export function imageTypeOf(base64: string): string | null {
  const head = Buffer.from(base64.slice(0, HEAD_CHARACTERS), 'base64')
  const type = sniffMediaType(head)
  if (type !== null) return type
  return /^\s*<(?:svg|\?xml)/.test(head.toString('latin1')) ? 'image/svg+xml' : null
}

export const isBase64 = (text: string): boolean => BASE64.test(text.trimEnd())

/** The base64 of a data URL; null for anything else. */
export function base64OfDataUrl(url: string): string | null {
  const head = dataUrlHead(url)
  return head?.isBase64 ? url.slice(head.length) : null
}

export const dataUrlOf = (base64: string, mediaType: string | null): string =>
  `data:${mediaType ?? 'image/png'};base64,${base64}`
