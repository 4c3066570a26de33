import { expect, test } from 'bun:test'
import type { Egress } from '../../src/dialects/dialect.ts'
import type { Recording } from '../recordings.ts'
import { cutOffsets, type ReplyForm, upstreamReply } from '../upstream-reply.ts'
import { type Outcome, outcomeOf } from './chat/outcome.ts'

/** Rows that the tables of recorded replies have in common. */

const rows = (recordings: readonly Recording[]) => recordings.map((each) => [each.name, each] as const)

const readIn =
  (egress: Egress) =>
  ({ bytes, status, isStream }: Recording, form: ReplyForm = {}): Promise<Outcome> =>
    outcomeOf(egress.read(upstreamReply(bytes, { ...form, status }), isStream))

/** Each is read as it is expected, whether a stream was asked for or not. */
export function answersAreRead(
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

/** However the network cuts a stream, it says the same. */
export function cutsSayTheSame(egress: Egress, streams: readonly Recording[]): void {
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
