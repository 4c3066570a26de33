import { expect, test } from 'bun:test'
import { UpstreamError } from '../../src/core/errors.ts'
import type { InferenceFrames } from '../../src/core/events.ts'
import type { Egress } from '../../src/dialects/dialect.ts'
import { egresses } from '../../src/dialects/index.ts'
import type { Expected, Recording } from '../recordings.ts'
import { cutOffsets, outermost, type ReplyForm, upstreamReply } from '../upstream-reply.ts'
import { type Outcome, outcomeOf } from './chat/outcome.ts'

/** Rows that the tables of recorded replies have in common. */

const EGRESS_OF: Readonly<Record<string, Egress>> = {
  'openai-chat': egresses.chat,
  'openai-responses': egresses.responses,
  'anthropic-messages': egresses.messages,
  gemini: egresses.gemini,
  'cohere-chat': egresses.cohere,
  'bedrock-converse': egresses.converse,
}

/** Whether it is a reply of one of our dialects, and no refusal. */
export const isAnswer = ({ api, status }: Recording): boolean => status < 300 && EGRESS_OF[api] !== undefined

/** A recording as the egress of its dialect reads it. */
export function framesOf({ api, bytes, status, headers, isStream }: Recording): InferenceFrames {
  const egress = EGRESS_OF[api]
  if (!egress) throw new Error(`no dialect of ${api}`)
  return egress.read(upstreamReply(bytes, { status, headers }), isStream)
}

const rows = (recordings: readonly Recording[]) => recordings.map((each) => [each.name, each] as const)

const readIn =
  (egress: Egress) =>
  ({ bytes, status, isStream }: Recording, form: ReplyForm = {}): Promise<Outcome> =>
    outcomeOf(egress.read(upstreamReply(bytes, { ...form, status }), isStream))

/** Each is read as it is expected, whether a stream was asked for or not. */
function answersAreRead(
  egress: Egress,
  answers: readonly Recording[],
  expectOutcome: (outcome: Outcome, recording: Recording) => void,
): void {
  const read = readIn(egress)
  test.each(rows(answers))('%s', async (_, recording) => {
    const outcome = await read(recording)
    expectOutcome(outcome, recording)
    // What was asked for does not decide how it is read.
    const crossed = await outcomeOf(egress.read(upstreamReply(recording.bytes), !recording.isStream))
    expect(crossed.events).toEqual(outcome.events)
  })
}

/** A stream has the same events however the network splits it. */
function cutsSayTheSame(egress: Egress, streams: readonly Recording[]): void {
  const read = readIn(egress)
  test.each(rows(streams))('re-cut: %s', async (_, recording) => {
    const events = JSON.stringify((await read(recording)).events)
    expect(JSON.stringify((await read(recording, { cuts: 'every' })).events)).toBe(events)
    for (const offset of cutOffsets(recording.bytes.length, recording.bytes.length)) {
      const cut = await read(recording, { cuts: [offset] })
      if (JSON.stringify(cut.events) !== events) throw new Error(`cut at ${offset} says something else`)
    }
  })
}

export type Ending = 'clean' | 'reset'
const ENDINGS: readonly Ending[] = ['clean', 'reset']

interface BrokenOff {
  /** Whether what has arrived is a complete reply, by a rule that is written independently of the reader. */
  isWhole(part: Uint8Array, ending: Ending, recording: Recording): boolean
  /** Where events end. */
  endsOf?(bytes: Uint8Array): readonly number[]
}

/** A stream that ends or breaks anywhere looks complete only if it is, and otherwise fails. */
export function brokenOff(
  egress: Egress,
  streams: readonly Recording[],
  { isWhole, endsOf = eventEnds }: BrokenOff,
): void {
  test.each(rows(streams))('broken off: %s', async (_, recording) => {
    const { bytes } = recording
    const offsets = new Set([...cutOffsets(bytes.length, bytes.length + 1), ...outermost(endsOf(bytes))])
    for (const offset of offsets) {
      const part = bytes.subarray(0, offset)
      for (const ending of ENDINGS) {
        const { events, error } = await outcomeOf(egress.read(upstreamReply(part, { ending }), true))
        const hasEnd = events.some((event) => event.type === 'response-end')
        const isRight =
          hasEnd === isWhole(part, ending, recording) && hasEnd !== error instanceof UpstreamError
        if (!isRight) throw new Error(`cut at ${offset}, ${ending}: ${hasEnd ? 'looks whole' : 'is lost'}`)
      }
    }
  })
}

/** Offsets behind each blank line. */
const eventEnds = (bytes: Uint8Array): number[] =>
  [...Buffer.from(bytes).toString('latin1').matchAll(/\n\n/g)].map((match) => match.index + 2)

/** The data of each event with its JSON, undefined if it is not JSON. A reset takes an event without its end away. */
export function* eventsOf(
  part: Uint8Array,
  ending: Ending,
): Generator<{ event: string; data: string; json: unknown }> {
  const events = new TextDecoder().decode(part).split('\n\n')
  const tail = events.pop() ?? ''
  if (ending === 'clean' && tail.trim() !== '') events.push(tail)
  for (const event of events) {
    const data = /^data: ?(.*)$/m.exec(event)?.[1] ?? ''
    yield { event, data, json: jsonOf(data) }
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What is at a path of names in a JSON value, undefined if nothing is. */
export function at(value: unknown, ...path: string[]): unknown {
  let found = value
  for (const name of path) {
    found = typeof found === 'object' && found !== null ? Reflect.get(found, name) : undefined
  }
  return found
}

export const numberAt = (value: unknown, ...path: string[]): number => {
  const found = at(value, ...path)
  return typeof found === 'number' ? found : 0
}

/** The reason of the error begins with the message that the provider sent. */
export function expectReason(error: unknown, { error: sent }: Expected): void {
  if (!(error instanceof UpstreamError)) throw new Error(`no UpstreamError but ${String(error)}`)
  // The table has the start of the object's JSON.
  const message = /"message": ?"((?:[^"\\]|\\.){1,60})/.exec(String(sent))?.[1] ?? String(sent).slice(0, 60)
  expect(message).not.toBe('')
  expect(error.reason.slice(0, message.length)).toBe(message)
}

/** Arguments of a call as text, `{}` for a call without any. */
const argumentsOf = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text === '' ? '{}' : text
}

interface ReplyTable extends BrokenOff {
  expectOutcome(outcome: Outcome, recording: Recording): void
  /** `error`: what the dialect made of a recorded refusal. */
  expectRefusal(error: UpstreamError, recording: Recording): void
}

/** Everything that holds for replies of a dialect: they are read as expected, also if cut or broken off anywhere. */
export const repliesAreRead =
  (egress: Egress, { expectOutcome, expectRefusal, ...whole }: ReplyTable) =>
  (recordings: readonly Recording[]): void => {
    const answers = recordings.filter(({ status }) => status < 300)
    const streams = answers.filter(({ isStream }) => isStream)
    answersAreRead(egress, answers, expectOutcome)
    refusalsAreRead(egress, recordings, expectRefusal)
    cutsSayTheSame(egress, streams)
    brokenOff(egress, streams, whole)
  }

export function refusalsAreRead(
  egress: Egress,
  recordings: readonly Recording[],
  expectRefusal: ReplyTable['expectRefusal'],
): void {
  const refusals = recordings.filter(({ status }) => status >= 300)
  test.each(rows(refusals))('%s', (_, recording) => {
    const { bytes, headers, status } = recording
    const error = egress.readError(status, headers, new TextDecoder().decode(bytes))
    expect(error.status).toBe(status)
    expectReason(error, recording.expected)
    expectRefusal(error, recording)
  })
}

/** The text, reasoning and calls are those that were found in the recording. `calls`: those that the client runs. */
export function expectContent(outcome: Outcome, expected: Expected, calls = expected.tool_calls ?? []): void {
  expect(outcome.text).toBe(expected.text ?? '')
  expect(outcome.reasoning).toBe(expected.reasoning ?? '')
  expect(outcome.calls).toEqual(
    calls.map(({ id, name, arguments: given }) => ({
      id: String(id),
      name: String(name),
      arguments: argumentsOf(given),
    })),
  )
}
