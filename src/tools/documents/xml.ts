import { MOST_CHARACTERS } from './bounds.ts'

/** A piece of an XML text: a tag with what is between its brackets, or text. */
export interface XmlPiece {
  /** Without its prefix, `/` before that of an end; '' for text. */
  readonly tag: string
  /** The attributes of a tag as written, or the text. */
  readonly text: string
}

/**
 * The pieces of an XML text, in one pass and without a tree. Comments and instructions are left out, and what a piece of
 * text has beyond the longest text of a document.
 */
export function* xmlPieces(xml: string): Generator<XmlPiece> {
  let at = 0
  while (at < xml.length) {
    const open = xml.indexOf('<', at)
    const end = open === -1 ? xml.length : open
    if (end > at) yield { tag: '', text: unescaped(xml.slice(at, Math.min(end, at + MOST_CHARACTERS))) }
    if (open === -1) return
    const close = xml.indexOf('>', open)
    if (close === -1) return
    at = close + 1
    const inner = xml.slice(open + 1, close)
    if (inner.startsWith('?') || inner.startsWith('!')) continue
    const isEmpty = inner.endsWith('/')
    const whole = isEmpty ? inner.slice(0, -1) : inner
    const space = whole.search(/\s/)
    const name = space === -1 ? whole : whole.slice(0, space)
    const isEnd = name.startsWith('/')
    const tag = name.slice(Math.max(name.indexOf(':') + 1, isEnd ? 1 : 0))
    yield { tag: isEnd ? `/${tag}` : tag, text: space === -1 ? '' : whole.slice(space) }
    if (isEmpty) yield { tag: `/${tag}`, text: '' }
  }
}

/** The value of an attribute, by its complete name; '' without it. */
export function attributeIn(attributes: string, name: string): string {
  const at = attributes.indexOf(` ${name}=`)
  if (at === -1) return ''
  const start = at + name.length + 3
  const quote = attributes.charAt(start - 1)
  const end = attributes.indexOf(quote, start)
  return end === -1 ? '' : unescaped(attributes.slice(start, end))
}

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

const unescaped = (text: string): string =>
  text.includes('&')
    ? text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,4}));/gi, (whole, decimal, hex, name) => {
        if (name !== undefined) return NAMED[name] ?? whole
        const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
        return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
      })
    : text
