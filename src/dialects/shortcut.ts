import { type InferenceEvent, type InferenceFrame, plainFrame } from '../core/events.ts'
import { mayBeSpliced } from './one-line.ts'
import { readRun, type TextRun } from './text-run.ts'
import { cutTemplate, frameTemplate, type TextForm, type TextTemplate } from './text-template.ts'

/** The fast path of a reader: events that differ from a parsed one in their text alone are not parsed. */
export interface Shortcut {
  /** The frame of an event that is like the one that was learnt; undefined for any other. */
  repeat(data: string): InferenceFrame | undefined
  /** Looks at an event that was parsed: as the model of the next ones, when it is plain text. */
  learn(data: string, events: InferenceEvent[]): InferenceFrame | undefined
  /** What this event changed, an older model does not know. */
  forget(): undefined
  /** True where it is not known how an event of the model stands in its stream. */
  readonly isUnframed: boolean
  /** Told how the last one stood, its blank line included, with `data` in it; undefined: in several reads. */
  frame(stood: string | undefined, data: string): void
  /** True where whole events can be read as text. */
  readonly isFramed: boolean
  /** The frame of all events like the model that stand at `from`, one behind the other; undefined: the next is another. */
  readRun(text: string, from: number): InferenceFrame | undefined
  /** Where the events end that the last `readRun` has read. */
  readonly end: number
}

/** Where no event is like the one before, cutting is given up after this many in vain. */
const MAX_VAIN_CUTS = 16
/** Characters. A model is parsed once more to prove it, which takes long for a longer event. */
const LONGEST_MODEL = 64 * 1024
/** Of one frame: writers make of it some 300 characters for each. */
const MOST_PIECES = 128

/** `onText` is shown what the events said that are not parsed. */
export function createShortcut(form: TextForm, onText: (text: string) => void = () => undefined): Shortcut {
  let template: TextTemplate | undefined
  /** The same of whole events, with their lines. */
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
