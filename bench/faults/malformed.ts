import { streamEvents, textOf } from '../answers.ts'
import { streams, textIn } from './behaviours.ts'
import { faultless, type Step } from './figure.ts'

/** F3: event streams that are written in every legal way, and in some that are not. */

interface Shape {
  readonly name: string
  /** The bytes of the stream, in the chunks of HTTP. */
  parts(model: string): (string | Uint8Array)[]
  /** The caller must get the complete text; else an error, and never a clean end. */
  readonly isLegal: boolean
}

const whole = (model: string): string => streamEvents(model).join('')
const inserted = (model: string, at: number, text: string): string[] =>
  streamEvents(model).toSpliced(at, 0, text)
const bytesOf = (text: string): Uint8Array[] =>
  Array.from(Buffer.from(text), (_, index) => Buffer.from(text).subarray(index, index + 1))
const DONE = 'data: [DONE]\n\n'
const TEN_MB = 10_000_000
/** A text of characters of two to four bytes. */
const WIDE = 'é漢😀'

const SHAPES: readonly Shape[] = [
  { name: 'crlf', parts: (model) => [whole(model).replaceAll('\n', '\r\n')], isLegal: true },
  { name: 'cr', parts: (model) => [whole(model).replaceAll('\n', '\r')], isLegal: true },
  { name: 'bom', parts: (model) => ['\uFEFF', whole(model)], isLegal: true },
  { name: 'one-byte-chunks', parts: (model) => bytesOf(whole(model)), isLegal: true },
  {
    name: 'split-utf8',
    parts: (model) => bytesOf(whole(model).replaceAll('" benchmark"', `" benchmark${WIDE}"`)),
    isLegal: true,
  },
  {
    name: 'event-lines',
    parts: (model) => streamEvents(model).map((event) => `event: message\n${event}`),
    isLegal: true,
  },
  {
    name: 'comments',
    parts: (model) => streamEvents(model).map((event) => `: a comment\n\n${event}`),
    isLegal: true,
  },
  { name: 'no-space', parts: (model) => [whole(model).replaceAll('data: ', 'data:')], isLegal: true },
  { name: 'no-done', parts: (model) => streamEvents(model).slice(0, -1), isLegal: true },
  { name: 'after-done', parts: (model) => [whole(model), streamEvents(model)[1] ?? '', DONE], isLegal: true },
  { name: 'no-blank-line', parts: (model) => [whole(model).trimEnd()], isLegal: true },
  {
    name: 'bad-json',
    parts: (model) => inserted(model, 9, 'data: {"choices":[{"delta"\n\n'),
    isLegal: false,
  },
  { name: 'no-json', parts: (model) => inserted(model, 9, 'data: a text\n\n'), isLegal: false },
  {
    name: 'line-of-10-mb',
    parts: (model) => inserted(model, 9, `data: "${'x'.repeat(TEN_MB)}"\n\n`),
    isLegal: false,
  },
  {
    name: 'endless-line',
    parts: (model) => inserted(model, 9, `data: ${'x'.repeat(TEN_MB)}`).slice(0, 10),
    isLegal: false,
  },
  { name: 'no-finish', parts: (model) => streamEvents(model).slice(0, 20), isLegal: false },
]

export const malformedStreams: Step = async ({ start }) => {
  const world = await start(
    new Map(SHAPES.map(({ name, parts }) => [name, [{ behaviour: streams(parts(name)) }]])),
  )
  const faults: string[] = []
  for (const { name, isLegal } of SHAPES) {
    const { status, body } = await world.ask(name, { isStream: true })
    const wanted =
      name === 'split-utf8' ? textOf(name).replaceAll('benchmark', `benchmark${WIDE}`) : textOf(name)
    const isEnded = body.endsWith(DONE)
    if (!isLegal) {
      if (isEnded || !body.includes('"error":{')) faults.push(`${name}: no error (${status})`)
    } else if (!isEnded || textIn(body) !== wanted) faults.push(`${name}: ${status} ${body.slice(-80)}`)
  }
  // It still serves.
  world.provider('crlf', 0).behave(streams(streamEvents('crlf')))
  if (textIn((await world.ask('crlf', { isStream: true })).body) !== textOf('crlf'))
    faults.push('it no longer answers')
  await world.stop()
  return [faultless(`F3 malformed streams: the text byte for byte, or an error`, SHAPES.length + 1, faults)]
}
