import { expect, test } from 'bun:test'
import { readChat } from '../../src/dialects/chat/decode.ts'
import { messagesEgress } from '../../src/dialects/messages/index.ts'
import {
  createPieceCount,
  createSilentCount,
  MOST_TOKENS_AT_ONCE,
  parseReply,
  withParsed,
} from '../../src/dialects/reply-decoder.ts'
import { createSseParser, MAX_EVENT_LINES } from '../../src/dialects/sse.ts'
import { collect } from '../../src/inference/reply/collect.ts'
import { upstreamReply } from '../upstream-reply.ts'
import { outcomeOf } from './chat/outcome.ts'

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

test('events without text are bounded together, and those with text are not', () => {
  const count = createSilentCount()
  const MB = 1024 * 1024
  const spoken = { events: [{ type: 'text-delta' as const, choice: 0, text: 'a' }] }
  const silent = { events: [{ type: 'native' as const, dialect: 'chat' as const, data: {} }] }
  for (let event = 0; event < 1_000; event++) count(spoken, MB)
  for (let event = 0; event < 64; event++) for (const frame of [silent, undefined]) count(frame, MB)
  expect(() => count(silent, 1)).toThrow('characters in events without text')
})

test('a provider that sends only unknown events is ended before it fills the memory', async () => {
  const event = `data: ${JSON.stringify({ type: 'unknown', x: 'x'.repeat(4_000_000) })}\n\n`
  let sent = 0
  async function* bytes() {
    for (; sent < 100; sent++) yield new TextEncoder().encode(event)
  }
  const { error } = await outcomeOf(messagesEgress.read({ ...upstreamReply(''), bytes: bytes() }, true))
  expect(error).toMatchObject({ kind: 'malformed' })
  expect(sent).toBeLessThan(40)
})

test('unknown fields of chunks are sent on, though only some are remembered', async () => {
  const chunks = Array.from({ length: 300 }, (_, i) => ({
    choices: [{ index: 0, delta: { content: 'a' }, [`null_${i % 150}`]: null }],
    [`field_${i % 150}`]: 1,
  }))
  const last = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
  const text = [...chunks, last].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
  const { error, events } = await outcomeOf(readChat(upstreamReply(text), true))
  expect(error).toBeUndefined()
  const sent = JSON.stringify(events)
  expect([sent.split('"field_0"').length, sent.split('"field_149"').length]).toEqual([2, 3])
  expect([sent.split('"null_0"').length, sent.split('"null_149"').length]).toEqual([2, 3])
})
