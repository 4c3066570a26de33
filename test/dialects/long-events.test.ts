import { expect, test } from 'bun:test'
import {
  createPieceCount,
  MOST_TOKENS_AT_ONCE,
  parseReply,
  withParsed,
} from '../../src/dialects/reply-decoder.ts'
import { createSseParser, MAX_EVENT_LINES } from '../../src/dialects/sse.ts'
import { collect } from '../../src/inference/reply/collect.ts'

const tokens = (count: number) =>
  Array.from({ length: count }, () => ({ token: 'a', logprob: -1, bytes: [97] }))
const frameOf = (count: number) => ({
  events: [{ type: 'logprobs' as const, choice: 0, logprobs: { content: tokens(count) } }],
})

test('each event may have the largest number of lines', () => {
  const parser = createSseParser()
  const most = 'data: {}\n'.repeat(MAX_EVENT_LINES)
  expect(parser.pushText(`${most}\n${most}\n`)).toHaveLength(2)
  expect(() => parser.pushText(`${most} data: {}\n`)).toThrow(`more than ${MAX_EVENT_LINES} lines`)
})

test('the tokens of one event are bounded, and those of a stream are not', () => {
  const count = createPieceCount()
  for (let event = 0; event < 3; event++) count(frameOf(MOST_TOKENS_AT_ONCE))
  expect(() => count(frameOf(MOST_TOKENS_AT_ONCE + 1))).toThrow('tokens with logprobs at once')
})

test('the tokens of a reply that is not streamed are bounded, over all of its events and choices', async () => {
  async function* frames(events: number) {
    for (let choice = 0; choice < events; choice++) {
      const [event] = frameOf(MOST_TOKENS_AT_ONCE / 4).events
      if (event) yield [{ events: [{ ...event, choice: choice % 2 }] }]
    }
  }
  const seen: unknown[] = []
  const see = (frame: unknown): void => void seen.push(frame)
  expect((await collect(frames(4), see)).choices).toHaveLength(2)
  await expect(collect(frames(5), see)).rejects.toThrow('tokens with logprobs at once')
})

test('a long event that is parsed already is not parsed again while it is read, and other texts are', () => {
  const deep = '['.repeat(300) + ']'.repeat(300)
  const parsed = { a: 1 }
  withParsed('{"a":1}', parsed, () => {
    expect(() => parseReply(deep, 200)).toThrow('nested deeper')
    expect(parseReply('{"a":1}', 200)).toBe(parsed)
  })
  expect(parseReply('{"a":1}', 200)).not.toBe(parsed)
  expect(() => withParsed(deep, null, () => parseReply('[', 200) ?? parseReply(deep, 200))).not.toThrow()
  expect(() => parseReply(deep, 200)).toThrow('nested deeper')
})
