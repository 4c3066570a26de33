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
