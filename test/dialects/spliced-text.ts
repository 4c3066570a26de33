import fc from 'fast-check'
import { type InferenceEvent, type InferenceFrame, plainFrame } from '../../src/core/events.ts'
import { mayBeSpliced } from '../../src/dialects/json-text.ts'

/** Text that a writer splices into its output as the JSON that the provider sent, without parsing it. */

export const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom(
    '',
    '\n\n',
    '"',
    '\\',
    '\u2028',
    '\u2029\u0085',
    '\ud83d',
    '\ude00',
    'data: [DONE]\n\n',
    '\u0000',
  ),
)

const textFrame = anyText.map(
  (text): InferenceFrame => ({ events: [{ type: 'text-delta', choice: 0, text }] }),
)

/** Frames of text, and now and then one of these events. */
export const framesWith = (otherEvent: fc.Arbitrary<InferenceEvent>): fc.Arbitrary<InferenceFrame[]> => {
  const otherFrame = fc
    .array(otherEvent, { minLength: 1, maxLength: 3 })
    .map((events): InferenceFrame => ({ events }))
  return fc.array(fc.oneof({ weight: 4, arbitrary: textFrame }, otherFrame), { maxLength: 12 })
}

/** The frame as a reader makes it if `write` is the provider's JSON encoder. */
export function withPlainText(frame: InferenceFrame, write: (text: string) => string): InferenceFrame {
  const [event, ...more] = frame.events
  if (event?.type !== 'text-delta' || event.choice !== 0 || more.length > 0) return frame
  const json = write(event.text)
  return json !== '' && mayBeSpliced(json) ? plainFrame(event.text, [json]) : frame
}

export const asStringify = (text: string): string => JSON.stringify(text).slice(1, -1)

/** Other encoders: every unit as \u, and every slash escaped. */
export const asEscapes = (text: string): string =>
  [...Array(text.length).keys()].map((i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')
export const asSlashes = (text: string): string => asStringify(text).replaceAll('/', '\\/')
