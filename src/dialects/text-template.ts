import { isObject, parseUnchecked } from '../core/json.ts'
import { endOfString, readJsonString } from './json-text.ts'

/** Where the events of a dialect have the text that comes in pieces, and what else differs from piece to piece. */
interface TextPlace {
  /** The field whose string is the text. */
  readonly field: string
  /** The text of a parsed event; any other value for other events. */
  textOf(event: unknown): unknown
  /** A field of the event with an integer that counts up. */
  readonly counter?: string
}

export interface TextForm extends TextPlace {
  /** The characters before the text. */
  readonly opening: RegExp
  /** A field that differs from piece to piece; undefined unless all of them are named. */
  readonly hole: RegExp
  readonly names: readonly string[]
}

/**
 * The text of an event that was nothing but one piece of text, with the places of the text, of a counter and of
 * padding cut out. Most events of a stream differ in those places alone, so the next one need not be parsed.
 */
export interface TextTemplate {
  readonly before: Holed
  readonly after: Holed
}

/** Literal pieces, and between each two of them a hole: digits or letters. */
interface Holed {
  readonly first: string
  readonly others: readonly { readonly hole: Hole; readonly literal: string }[]
}

type Hole = 'digits' | 'padding'

/** `obfuscation` is OpenAI's and Azure's padding, `p` Mistral's: letters that hide the length of a token. */
const PADDINGS = ['obfuscation', 'p']
/** A text that no model is likely to start with, free of escapes. */
const PROBE = '\u2063probe\u2063'
const PROBE_NUMBER = 190_190_190

/**
 * `event` was parsed and has no content but the piece `text`. To prove the template, the event is parsed again with another
 * text, number and padding in their places; undefined if it cannot be made.
 */
export function cutTemplate(
  event: string,
  text: string,
  form: TextForm,
): { template: TextTemplate; json: string } | undefined {
  const { opening } = form
  // Slices hold the string that they are cut from, here a network read of up to 64 kB, as long as the stream is open.
  const data = copyOf(event)
  opening.lastIndex = 0
  for (let match = opening.exec(data); match; match = opening.exec(data)) {
    const from = opening.lastIndex
    const to = endOfString(data, from)
    if (to === -1) return undefined
    const json = data.slice(from, to)
    if (readJsonString(json) !== text) continue
    const template = {
      before: cutHoles(data.slice(0, from), form),
      after: cutHoles(data.slice(to), form),
    }
    if (isProven(template, form)) return { template, json }
  }
  return undefined
}

/** A string of its own; `slice` would refer to the complete one. */
const copyOf = (text: string): string => Buffer.from(text).toString()

/** The text around the data of an event that consists of an optional name and one line of data. */
const LINES_BEFORE = /^(?:event:[^\r\n]*\r?\n)?data: ?$/
const LINES_AFTER = /^(?:\n\n|\r\n\r\n)$/

/** The template of complete events: `stood` is one with its lines, as in the stream, with `data` in it. */
export function frameTemplate(
  { before, after }: TextTemplate,
  stood: string,
  data: string,
): TextTemplate | undefined {
  const at = stood.indexOf(data)
  const head = stood.slice(0, at)
  const tail = stood.slice(at + data.length)
  if (at === -1 || !LINES_BEFORE.test(head) || !LINES_AFTER.test(tail)) return undefined
  const last = after.others.at(-1)
  return {
    before: { first: head + before.first, others: before.others },
    after: last
      ? {
          first: after.first,
          others: [...after.others.slice(0, -1), { hole: last.hole, literal: last.literal + tail }],
        }
      : { first: after.first + tail, others: [] },
  }
}

/** Where these literals and holes end when `text` has them at `from`; -1: it has others. */
export function matchHoled({ first, others }: Holed, text: string, from: number): number {
  if (!text.startsWith(first, from)) return -1
  let at = from + first.length
  for (const { hole, literal } of others) {
    while (fills(hole, text.charCodeAt(at))) at++
    if (!text.startsWith(literal, at)) return -1
    at += literal.length
  }
  return at
}

const fills = (hole: Hole, code: number): boolean =>
  (code >= 0x30 && code <= 0x39) ||
  (hole === 'padding' && ((code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)))

/** Made once for each dialect. */
export function createTextForm(place: TextPlace): TextForm {
  const { field, counter } = place
  const padding = `"(?:${PADDINGS.join('|')})"\\s*:\\s*"(?<letters>[A-Za-z0-9]*)"`
  const number = counter === undefined ? '' : `|"${counter}"\\s*:\\s*(?<digits>\\d+)`
  return {
    ...place,
    opening: new RegExp(`"${field}"\\s*:\\s*"`, 'g'),
    hole: new RegExp(padding + number, 'g'),
    names: [...PADDINGS, ...(counter === undefined ? [] : [counter])].map((name) => `"${name}"`),
  }
}

function cutHoles(text: string, { hole: holes, names }: TextForm): Holed {
  if (!names.some((name) => text.includes(name))) return { first: text, others: [] }
  const pieces: { hole: Hole; literal: string }[] = []
  let hole: Hole = 'digits'
  let from = 0
  for (const match of text.matchAll(holes)) {
    const { letters, digits } = match.groups ?? {}
    const end = match.index + match[0].length - (digits === undefined ? 1 : 0)
    pieces.push({ hole, literal: text.slice(from, end - (digits ?? letters ?? '').length) })
    hole = digits === undefined ? 'padding' : 'digits'
    from = end
  }
  pieces.push({ hole, literal: text.slice(from) })
  const [{ literal: first } = { literal: '' }, ...others] = pieces
  return { first, others }
}

function isProven({ before, after }: TextTemplate, form: TextForm): boolean {
  const event = parseUnchecked(filled(before) + PROBE + filled(after))
  if (!isObject(event) || form.textOf(event) !== PROBE) return false
  const holes = before.others.length + after.others.length
  const paddings = PADDINGS.filter((name) => event[name] === 'probe').length
  const numbers = form.counter !== undefined && event[form.counter] === PROBE_NUMBER ? 1 : 0
  return holes === paddings + numbers
}

const filled = ({ first, others }: Holed): string =>
  others.reduce(
    (text, { hole, literal }) => text + (hole === 'digits' ? PROBE_NUMBER : 'probe') + literal,
    first,
  )
