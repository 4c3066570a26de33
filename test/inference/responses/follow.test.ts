import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createTicker, type Ticker } from '../../../src/inference/reply/ticker.ts'
import type { EventRange, EventSource } from '../../../src/inference/responses/event-log.ts'
import { follow } from '../../../src/inference/responses/follow.ts'

let at: number
let ticker: Ticker
let leaving: AbortController
beforeEach(() => {
  at = 1_000_000
  ticker = createTicker(() => at)
  leaving = new AbortController()
})
afterEach(() => ticker.close())

const COMMENT = ': SLUICE PROCESSING\n\n'

/** What has been asked of it, and what it answers when the test says so. */
function source() {
  const asked: number[] = []
  const waiting: PromiseWithResolvers<EventRange | null>[] = []
  const events: EventSource = {
    after(sequence) {
      asked.push(sequence)
      const answer = Promise.withResolvers<EventRange | null>()
      waiting.push(answer)
      return answer.promise
    },
  }
  return { events, asked, give: (stretch: EventRange | null) => waiting.shift()?.resolve(stretch), waiting }
}

function reading(events: EventSource, startingAfter = -1) {
  const response = follow({
    source: events,
    startingAfter,
    ticker,
    signal: leaving.signal,
    headers: { 'x-generation-id': 'gen-1' },
  })
  const reader = response.body?.getReader()
  if (!reader) throw new Error('there is no body')
  const decoder = new TextDecoder()
  return {
    headers: response.headers,
    next: async () => {
      const { value, done } = await reader.read()
      return done ? null : decoder.decode(value)
    },
  }
}

test('parts are read one after the other, each when the last one was consumed, and then the end', async () => {
  const { events, asked, give } = source()
  const { next, headers } = reading(events, 4)
  expect(headers.get('content-type')).toBe('text/event-stream')
  expect(headers.get('x-generation-id')).toBe('gen-1')
  // At once, so that the client knows that it is connected.
  expect(await next()).toBe(COMMENT)
  expect(asked).toEqual([])
  const first = next()
  give({ text: 'five', last: 5 })
  expect(await first).toBe('five')
  expect(asked).toEqual([4])
  const second = next()
  give({ text: 'six to nine', last: 9 })
  expect(await second).toBe('six to nine')
  const third = next()
  give(null)
  expect(await third).toBe('data: [DONE]\n\n')
  expect(await next()).toBeNull()
  expect(asked).toEqual([4, 5, 9])
})

test('a comment whenever nothing came for five seconds', async () => {
  const { events, give } = source()
  const { next } = reading(events)
  await next()
  for (let n = 0; n < 2; n++) {
    const quiet = next()
    at += 5_000
    expect(await quiet).toBe(COMMENT)
  }
  const event = next()
  give({ text: 'zero', last: 0 })
  expect(await event).toBe('zero')
})

test('a reader that reads nothing for a minute is disconnected', async () => {
  const { events, give } = source()
  const { next } = reading(events)
  await next()
  const event = next()
  give({ text: 'zero', last: 0 })
  await event
  at += 60_000
  const gone = Promise.withResolvers<void>()
  ticker.after(0, gone.resolve)
  await gone.promise
  await expect(next()).rejects.toThrow('the client disconnected')
})

test('a reader that disconnects reads no further part', async () => {
  const { events, asked, give } = source()
  const { next } = reading(events)
  await next()
  const event = next()
  leaving.abort()
  await expect(event).rejects.toThrow('the client disconnected')
  give({ text: 'zero', last: 0 })
  await Promise.resolve()
  expect(asked).toEqual([-1])
})

test('a source that fails ends the stream in an error, not in an end', async () => {
  const { events, waiting } = source()
  const { next } = reading(events)
  await next()
  const event = next()
  waiting[0]?.reject(new Error('the file is gone'))
  await expect(event).rejects.toThrow('the file is gone')
})
