import { type InferenceEvent, type InferenceFrame, plainFrame } from '../core/events.ts'
import { endOfString, mayBeSpliced, readJsonString } from './json-text.ts'
import { cutTemplate, frameTemplate, matchHoled, type TextForm, type TextTemplate } from './text-template.ts'

/** The fast path of a reader: events that differ from a parsed one in their text alone are not parsed. */
export interface Shortcut {
  /** The frame of an event that is like the one that was learnt; undefined for any other. */
  repeat(data: string): InferenceFrame | undefined
  /** Takes a parsed event as the template of the next ones if it is plain text. */
  learn(data: string, events: InferenceEvent[]): InferenceFrame | undefined
  /** Discards the template after an event that changed something else. */
  forget(): undefined
  /** True until `frame` has seen the lines around an event of the template. */
  readonly isUnframed: boolean
  /** Receives the text of the last event with its blank line and `data`; undefined if it came in several reads. */
  frame(stood: string | undefined, data: string): void
  /** True if complete events can be read as text. */
  readonly isFramed: boolean
  /** The frame of all consecutive events like the template from `from` on; undefined if the next one differs. */
  readRun(text: string, from: number): InferenceFrame | undefined
  /** Where the events end that the last `readRun` has read. */
  readonly end: number
}

/** After this many templates that no event matched, none is made any more. */
const MAX_VAIN_CUTS = 16
/** Characters. A template is proved by parsing it once more, which takes long for a longer event. */
const LONGEST_MODEL = 64 * 1024
/** Pieces of one frame: writers turn each into some 300 characters. */
const MOST_PIECES = 128

/** `onText` receives the text of events that are not parsed. */
export function createShortcut(form: TextForm, onText: (text: string) => void = () => undefined): Shortcut {
  let template: TextTemplate | undefined
  /** The same for complete events, with their lines. */
  let framed: TextTemplate | undefined
  let isUnframed = false
  let vainCuts = 0
  let end = 0

  function repeated(run: TextRun | undefined): InferenceFrame | undefined {
    if (run === undefined) return undefined
    vainCuts = 0
    end = run.end
    onText(run.text)
    return plainFrame(run.text, run.jsons)
  }

  function forget(): undefined {
    template = undefined
    framed = undefined
    isUnframed = false
  }

  return {
    get isUnframed() {
      return isUnframed
    },
    get isFramed() {
      return framed !== undefined
    },
    get end() {
      return end
    },
    repeat(data) {
      const run = template && readRun(template, data, 0, 1)
      return repeated(run?.end === data.length ? run : undefined)
    },
    readRun: (text, from) => repeated(framed && readRun(framed, text, from, MOST_PIECES)),
    frame(stood, data) {
      if (stood === undefined) return
      isUnframed = false
      framed = template && frameTemplate(template, stood, data)
    },
    forget,
    learn(data, events) {
      forget()
      const only = events[0]
      if (events.length !== 1 || only?.type !== 'text-delta' || only.choice !== 0) return undefined
      if (vainCuts >= MAX_VAIN_CUTS || data.length > LONGEST_MODEL) return undefined
      vainCuts++
      const cut = cutTemplate(data, only.text, form)
      if (cut === undefined) return undefined
      template = cut.template
      isUnframed = true
      return mayBeSpliced(cut.json) ? plainFrame(only.text, [cut.json]) : undefined
    },
  }
}

/** Consecutive pieces of text, in events that differ in nothing else. */
interface TextRun {
  /** Upstream's own JSON text of each string, quotes excluded. Each can be copied into a `data:` line unchanged. */
  readonly jsons: readonly string[]
  /** The text of all of them. */
  readonly text: string
  /** Where the next event begins. */
  readonly end: number
}

/** For a longer string the engine searches the end, which is faster than a loop. */
const SHORT_CHARACTERS = 64

/**
 * Reads at most `most` events of this template, from `from` on. Undefined if the first one differs, is incomplete or
 * empty, or must not be spliced. Reads each character once.
 */
function readRun(
  { before, after }: TextTemplate,
  text: string,
  from: number,
  most: number,
): TextRun | undefined {
  const jsons: string[] = []
  let joined = ''
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
    joined += piece
    end = next
  }
  return jsons.length === 0 ? undefined : { jsons, text: joined, end }
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

/** Decodes JSON text of a string that can be spliced. */
const readSplicable = (json: string): string | undefined =>
  mayBeSpliced(json) ? readJsonString(json) : undefined
