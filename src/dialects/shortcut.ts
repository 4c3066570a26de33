import type { InferenceEvent, InferenceFrame } from '../core/events.ts'
import {
  cutTemplate,
  matchTemplate,
  readJsonString,
  type TextForm,
  type TextTemplate,
} from './text-template.ts'

/** The fast path of a reader: events that differ from a parsed one in their text alone are not parsed. */
export interface Shortcut {
  /** The frame of an event that is like the one that was learnt; undefined for any other. */
  repeat(data: string): InferenceFrame | undefined
  /** Looks at an event that was parsed: as the model of the next ones, when it is plain text. */
  learn(data: string, events: InferenceEvent[]): InferenceFrame | undefined
  /** What this event changed, an older model does not know. */
  forget(): undefined
}

/** Where no event is like the one before, cutting is given up after this many in vain. */
const MAX_VAIN_CUTS = 16

export function createShortcut(form: TextForm): Shortcut {
  let template: TextTemplate | undefined
  let vainCuts = 0
  const plainFrame = (events: InferenceEvent[], json: string): InferenceFrame => ({
    events,
    plainText: { json },
  })
  return {
    repeat(data) {
      if (template === undefined) return undefined
      const json = matchTemplate(template, data)
      if (json === undefined) return undefined
      const text = readJsonString(json)
      if (text === undefined) return undefined
      vainCuts = 0
      return plainFrame([{ type: 'text-delta', choice: 0, text }], json)
    },
    forget() {
      template = undefined
    },
    learn(data, events) {
      template = undefined
      const only = events[0]
      if (events.length !== 1 || only?.type !== 'text-delta' || only.choice !== 0) return undefined
      if (vainCuts >= MAX_VAIN_CUTS) return undefined
      vainCuts++
      const cut = cutTemplate(data, only.text, form)
      template = cut?.template
      return cut && plainFrame(events, cut.json)
    },
  }
}
