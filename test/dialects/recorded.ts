import { expect, test } from 'bun:test'
import { UpstreamError } from '../../src/core/errors.ts'
import type { InferenceEvent, InferenceFrames } from '../../src/core/events.ts'
import type { Egress } from '../../src/dialects/dialect.ts'
import { egresses } from '../../src/dialects/index.ts'
import type { Recording } from '../recordings.ts'
import { cutOffsets, outermost, type ReplyForm, upstreamReply } from '../upstream-reply.ts'
import { type Outcome, outcomeOf } from './chat/outcome.ts'
import { expectReason } from './expected.ts'

/** How recorded replies are tested, in every dialect. */

const EGRESS_OF: Readonly<Record<string, Egress>> = {
  'openai-chat': egresses.chat,
  'openai-responses': egresses.responses,
  'anthropic-messages': egresses.messages,
  gemini: egresses.gemini,
  'cohere-chat': egresses.cohere,
  'bedrock-converse': egresses.converse,
}

/** Whether it is a successful reply in one of the dialects. */
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

type TextOf = (events: readonly InferenceEvent[]) => string

/** Each is read as expected, whether the request asked for a stream or not. */
function answersAreRead(
  egress: Egress,
  answers: readonly Recording[],
  expectOutcome: ReplyTable['expectOutcome'],
  textOf: TextOf,
): void {
  const read = readIn(egress)
  test.each(rows(answers))('%s', async (_, recording) => {
    const outcome = await read(recording)
    const crossed = await outcomeOf(egress.read(upstreamReply(recording.bytes), !recording.isStream))
    expect(textOf(crossed.events)).toBe(textOf(outcome.events))
    await expectOutcome(outcome, recording)
  })
}

/** A stream has the same events however the network splits it. */
function cutsReadAlike(egress: Egress, streams: readonly Recording[], textOf: TextOf): void {
  const read = readIn(egress)
  test.each(rows(streams))('re-cut: %s', async (_, recording) => {
    const events = textOf((await read(recording)).events)
    expect(textOf((await read(recording, { cuts: 'every' })).events)).toBe(events)
    for (const offset of cutOffsets(recording.bytes.length, recording.bytes.length)) {
      const cut = await read(recording, { cuts: [offset] })
      if (textOf(cut.events) !== events) throw new Error(`other events when split at ${offset}`)
    }
  })
}

export type Ending = 'clean' | 'reset'

const ENDINGS: readonly Ending[] = ['clean', 'reset']

interface BrokenOff {
  /** Whether the received part is a complete reply, by a rule written independently of the reader. */
  isComplete(part: Uint8Array, ending: Ending, recording: Recording): boolean
  /** Where events end. */
  endsOf?(bytes: Uint8Array): readonly number[]
}

/** A stream that ends or breaks anywhere looks complete only if it is, and otherwise fails. */
function brokenOff(
  egress: Egress,
  streams: readonly Recording[],
  { isComplete, endsOf = eventEnds }: BrokenOff,
): void {
  test.each(rows(streams))('broken off: %s', async (_, recording) => {
    const { bytes } = recording
    const offsets = new Set([...cutOffsets(bytes.length, bytes.length + 1), ...outermost(endsOf(bytes))])
    for (const offset of offsets) {
      const part = bytes.subarray(0, offset)
      for (const ending of ENDINGS) {
        const { events, error } = await outcomeOf(egress.read(upstreamReply(part, { ending }), true))
        const hasEnd = events.some((event) => event.type === 'response-end')
        const place = `broken off at ${offset}, ${ending}`
        expect(`${place}: ${hasEnd}`).toBe(`${place}: ${isComplete(part, ending, recording)}`)
        expect(error instanceof UpstreamError).toBe(!hasEnd)
      }
    }
  })
}

/** Offsets behind each blank line. */
const eventEnds = (bytes: Uint8Array): number[] =>
  [...Buffer.from(bytes).toString('latin1').matchAll(/\n\n/g)].map((match) => match.index + 2)

/** The data of each event with its JSON, undefined if it is not JSON. A reset discards an event without its end. */
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

interface ReplyTable extends BrokenOff {
  expectOutcome(outcome: Outcome, recording: Recording): void | Promise<void>
  /** `error`: how the dialect reads a recorded refusal. */
  expectRefusal?(error: UpstreamError, recording: Recording): void
  expectReason?: typeof expectReason
  /** The events as text; `sameText` if the dialect makes ids. */
  textOf?: TextOf
}

/** Tests the recorded replies of a dialect: as recorded, split anywhere, and broken off anywhere. */
export const repliesAreRead =
  (egress: Egress, { expectOutcome, textOf = JSON.stringify, ...table }: ReplyTable) =>
  (recordings: readonly Recording[]): void => {
    const refusals = recordings.filter(isRefusal)
    const answers = recordings.filter((recording) => !isRefusal(recording))
    const streams = answers.filter(({ isStream }) => isStream)
    answersAreRead(egress, answers, expectOutcome, textOf)
    refusalsAreRead(egress, refusals, table)
    cutsReadAlike(egress, streams, textOf)
    brokenOff(egress, streams, table)
  }

const isRefusal = ({ status, api }: Recording): boolean => status >= 300 || api === 'error-body'

function refusalsAreRead(
  egress: Egress,
  refusals: readonly Recording[],
  {
    expectReason: expectSent = expectReason,
    expectRefusal,
  }: Pick<ReplyTable, 'expectReason' | 'expectRefusal'>,
): void {
  test.each(rows(refusals))('%s', (_, recording) => {
    const { bytes, headers, expected } = recording
    // The body of an error is sometimes recorded without its status.
    const status = recording.status < 300 ? 400 : recording.status
    const error = egress.readError(status, headers, new TextDecoder().decode(bytes))
    expect(error.status).toBe(status)
    expectSent(error, expected)
    expectRefusal?.(error, recording)
  })
}
