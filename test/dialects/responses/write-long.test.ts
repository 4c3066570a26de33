import { expect, spyOn, test } from 'bun:test'
import type { InferenceEvent, InferenceFrame } from '../../../src/core/events.ts'
import { jsonInSteps } from '../../../src/core/json-steps.ts'
import { writeResponsesStream } from '../../../src/dialects/responses/write-stream.ts'
import { checkStream } from './stream-order.ts'
import { CLOSING, reply } from './written.ts'

/** The end of a stream repeats its text five times: held as pieces, that text is in memory once. */

const LONG = 300_000
const frame = (...events: InferenceEvent[]): InferenceFrame => ({ events })
const text = (length: number): InferenceFrame =>
  frame({ type: 'text-delta', choice: 0, text: 'w\u2028"'.repeat(length / 3) })
const token = { token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }
const logprobs = frame(
  { type: 'text-delta', choice: 0, text: 'a' },
  { type: 'logprobs', choice: 0, logprobs: { content: Array.from({ length: 3000 }, () => token) } },
)
const call = frame(
  { type: 'tool-call-start', choice: 0, index: 0, id: 'c', name: 'look' },
  { type: 'tool-call-delta', choice: 0, index: 0, json: '{}' },
)
const thought = frame({ type: 'reasoning-delta', choice: 0, text: 'so '.repeat(LONG / 3) })

const REPLIES: Record<string, InferenceFrame[]> = {
  'a long text': [text(LONG)],
  'a long text, then a call': [text(LONG), call],
  'thoughts and tokens': [thought, text(30), logprobs, call, text(LONG)],
  'a short text': [text(30)],
}

function writtenBy(frames: readonly InferenceFrame[], isFailed: boolean, hold: boolean) {
  const writer = writeResponsesStream(reply({ instructions: 'i'.repeat(100_000) }))
  const texts: string[] = []
  let held: string[] = []
  if (hold) writer.holdLong?.((long) => held.push(long))
  const add = (returned: string): void => {
    texts.push(returned, ...held)
    held = []
  }
  for (const each of frames) add(writer.write(each))
  add(isFailed ? writer.fail({ status: 502, message: 'It broke.' }) : writer.end(CLOSING))
  return texts
}

for (const [name, frames] of Object.entries(REPLIES)) {
  for (const isFailed of [false, true]) {
    test(`${name}${isFailed ? ' that fails' : ''} is the same stream when long texts are held`, () => {
      const returned = writtenBy(frames, isFailed, false).join('')
      const held = writtenBy(frames, isFailed, true)
      expect(held.join('') === returned).toBe(true)
      checkStream(returned)
    })
  }
}

test('no held text is longer than the text of the reply as JSON', () => {
  const held = writtenBy([text(LONG)], false, true)
  const json = JSON.stringify('w\u2028"'.repeat(LONG / 3)).length + (LONG / 3) * 5
  const longest = Math.max(...held.map(({ length }) => length))
  expect(held.join('').length).toBeGreaterThan(5 * json)
  // A delta has its own fields beside the text.
  expect(longest).toBeLessThan(json + 1000)
})

test('a response with thousands of tokens is stored from the texts of its stream: no list is parsed', async () => {
  const writer = writeResponsesStream(reply())
  for (const each of [thought, logprobs, call, text(LONG)]) writer.write(each)
  writer.end(CLOSING)
  const parse = spyOn(JSON, 'parse')
  const json = (await jsonInSteps(writer.reply?.())).join('')
  const parsed = parse.mock.calls.length
  parse.mockRestore()
  expect(parsed).toBe(0)
  expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(writer.reply?.())))
})
