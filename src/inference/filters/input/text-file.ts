/** Returns the replacement of a text. */
export type Replace = (text: string, isUser: boolean) => string

const DATA_URL = /^data:[^,]*,/i
const IS_BASE64 = /;\s*base64\s*,$/i
/** Formats with byte offsets, which changed text would corrupt. */
const COUNTED = /^%PDF-/

/**
 * Replaces the text of a file in a field, as a data URL or in bare base64. Its content determines whether it is text: media
 * types are often missing or wrong. Binary files are skipped.
 */
export function inFile(value: unknown, isUser: boolean, replace: Replace): unknown {
  if (typeof value !== 'string') return value
  const begin = DATA_URL.exec(value)?.[0] ?? ''
  const content = value.slice(begin.length)
  if (begin !== '' && !IS_BASE64.test(begin)) return inPlain(value, begin, content, isUser, replace)
  if (begin === '' && !isBase64(content)) return replace(value, isUser)
  const text = decoded(content)
  if (text === null || COUNTED.test(text)) return value
  const next = replace(text, isUser)
  return next === text ? value : begin + Buffer.from(next).toString('base64')
}

/** `data:text/plain,a%20b` */
function inPlain(value: string, begin: string, content: string, isUser: boolean, replace: Replace): string {
  const text = unescaped(content)
  const next = replace(text, isUser)
  return next === text ? value : begin + encodeURIComponent(next)
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Null if the bytes are not UTF-8 text. */
function decoded(base64: string): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Buffer.from(base64, 'base64'),
    )
    return text.includes('\0') ? null : text
  } catch {
    return null
  }
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}\s*$/

/** Bare base64, with or without line breaks. */
const isBase64 = (text: string): boolean => BASE64.test(text.includes('\n') ? text.replace(/\s/g, '') : text)

const SEALED = /^data:[^,]*;base64,/i
/** Shorter values may be text: a number is valid base64 as well. No image is that short. */
const SHORTEST_SEALED = 64

/** True for a complete base64 data URL. Text that only starts like one is not. */
export function isSealed(text: string): boolean {
  const begin = SEALED.exec(text)?.[0]
  if (begin === undefined || text.length - begin.length < SHORTEST_SEALED) return false
  return isBase64(text.slice(begin.length))
}
