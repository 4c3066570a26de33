import { createHash } from 'node:crypto'

/**
 * Tool names of Converse have letters, digits, `_` and `-`. Other characters are escaped (`files.read` as
 * `files_x2e_read`) and restored in replies. An underscore that looks like the start of an escape is escaped too.
 */
const FORBIDDEN = /[^A-Za-z0-9_-]|_(?=x[0-9a-f]+_)/gu
const ESCAPED = /_x([0-9a-f]{1,6})_/g

export const writeToolName = (name: string): string =>
  name.replace(FORBIDDEN, (character) => `_x${character.codePointAt(0)?.toString(16)}_`)

export const readToolName = (name: string): string =>
  name.replace(ESCAPED, (escaped, hex: string) => {
    const code = Number.parseInt(hex, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : escaped
  })

const MOST_ID_CHARACTERS = 64
const KEPT_OF_ID = 47
const DIGEST_CHARACTERS = 16

/**
 * The id of a call for Converse: at most 64 of the same characters. A longer id is shortened to a unique one, always the
 * same for the same id.
 */
export function writeCallId(id: string): string {
  const written = id.replace(/[^A-Za-z0-9_-]/g, '_')
  if (written === id && id.length <= MOST_ID_CHARACTERS) return id
  const digest = createHash('sha256').update(id).digest('hex').slice(0, DIGEST_CHARACTERS)
  return `${written.slice(0, KEPT_OF_ID)}_${digest}`
}

/**
 * Claude's encrypted thoughts. Anthropic's own API has them as text; Converse has the bytes of that text in base64
 * (recorded 2025). Callers get Anthropic's form, so that a conversation can continue at either provider. Data that is not
 * text is kept as base64, with a prefix.
 */
const PREFIX = 'bedrock:'
const PRINTABLE = /^[\x21-\x7e]+$/

export function readRedacted(base64: string): string {
  const text = Buffer.from(base64, 'base64').toString('latin1')
  const isText = PRINTABLE.test(text) && writeRedacted(text) === base64
  return isText && !text.startsWith(PREFIX) ? text : PREFIX + base64
}

export const writeRedacted = (data: string): string =>
  data.startsWith(PREFIX) ? data.slice(PREFIX.length) : Buffer.from(data, 'utf8').toString('base64')
