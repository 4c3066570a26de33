import { createHash } from 'node:crypto'

/**
 * Converse takes letters, digits, `_` and `-` in the names of tools; others (`files.read`) are written as
 * `files_x2e_read` and read back. So is an underscore that would read as the beginning of such a piece.
 */
const FORBIDDEN = /[^A-Za-z0-9_-]|_(?=x[0-9a-f]+_)/gu
const ESCAPED = /_x([0-9a-f]{1,6})_/g

export const writeToolName = (name: string): string =>
  name.replace(FORBIDDEN, (character) => `_x${character.codePointAt(0)?.toString(16)}_`)

export const readToolName = (name: string): string =>
  name.replace(ESCAPED, (whole, hex: string) => {
    const code = Number.parseInt(hex, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })

const MOST_ID_CHARACTERS = 64
const KEPT_OF_ID = 47
const DIGEST_CHARACTERS = 16

/**
 * The id of a call as Converse takes it: at most 64 of the same characters. Another provider's is shortened to what
 * tells it apart, the same way wherever it stands.
 */
export function writeCallId(id: string): string {
  const written = id.replace(/[^A-Za-z0-9_-]/g, '_')
  if (written === id && id.length <= MOST_ID_CHARACTERS) return id
  const digest = createHash('sha256').update(id).digest('hex').slice(0, DIGEST_CHARACTERS)
  return `${written.slice(0, KEPT_OF_ID)}_${digest}`
}

/**
 * What Claude encrypted of its thoughts. Anthropic's own API has it as text; Converse has the bytes of that text in
 * base64 (recorded 2025). Callers get Anthropic's form, so that a conversation can go on at either; what is no text
 * underneath stays as it is, with a mark in front.
 */
const MARK = 'bedrock:'
const PRINTABLE = /^[\x21-\x7e]+$/

export function readRedacted(base64: string): string {
  const text = Buffer.from(base64, 'base64').toString('latin1')
  const isText = PRINTABLE.test(text) && writeRedacted(text) === base64
  return isText && !text.startsWith(MARK) ? text : MARK + base64
}

export const writeRedacted = (data: string): string =>
  data.startsWith(MARK) ? data.slice(MARK.length) : Buffer.from(data, 'utf8').toString('base64')
