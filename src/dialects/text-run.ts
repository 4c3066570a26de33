import { endOfString, readJsonString } from './json-text.ts'
import { mayBeSpliced } from './one-line.ts'
import { matchHoled, type TextTemplate } from './text-template.ts'

/** Pieces of text that came one behind the other, in events that differ in nothing else. */
export interface TextRun {
  /** Upstream's own JSON text of each string, quotes excluded. Each may stand in a `data:` line as it is. */
  readonly jsons: readonly string[]
  /** What all of them say. */
  readonly text: string
  /** Where the next event begins. */
  readonly end: number
}

/** From here on the end of a string is searched for by the engine, which skips faster than a loop. */
const SHORT_CHARACTERS = 64

/**
 * Reads events of this template from `from` on, `most` of them at most. Undefined where the first one is another one,
 * is not whole, says nothing, or must not be spliced. Each character is looked at once.
 */
export function readRun(
  { before, after }: TextTemplate,
  text: string,
  from: number,
  most: number,
): TextRun | undefined {
  const jsons: string[] = []
  let said = ''
  let end = from
  while (jsons.length < most) {
    const start = matchHoled(before, text, end)
    if (start === -1) break
    let to = endOfPlain(text, start)
    const isPlain = text.charCodeAt(to) === QUOTE
    if (!isPlain) to = endOfString(text, to)
    const next = to > start ? matchHoled(after, text, to) : -1
    if (next === -1) break
    const json = text.slice(start, to)
    const piece = isPlain ? json : readSplicable(json)
    if (piece === undefined) break
    jsons.push(json)
    said += piece
    end = next
  }
  return jsons.length === 0 ? undefined : { jsons, text: said, end }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const SPACE = 0x20
const NEXT_LINE = 0x85
const LINE_SEPARATOR = 0x2028
const PARAGRAPH_SEPARATOR = 0x2029

/** The place of the first character that is not plain text: nearly always the quote behind a short piece. */
function endOfPlain(text: string, from: number): number {
  const end = from + SHORT_CHARACTERS
  for (let at = from; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE || code === BACKSLASH || code < SPACE) return at
    if (code >= NEXT_LINE && (code === NEXT_LINE || code === LINE_SEPARATOR || code === PARAGRAPH_SEPARATOR))
      return at
    if (Number.isNaN(code)) return at
  }
  return end
}

/** The string that this JSON text says, where it may be spliced. */
const readSplicable = (json: string): string | undefined =>
  mayBeSpliced(json) ? readJsonString(json) : undefined
