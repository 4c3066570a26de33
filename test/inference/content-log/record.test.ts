import { expect, test } from 'bun:test'
import { GatewayError } from '../../../src/core/errors.ts'
import type { InferenceEvent } from '../../../src/core/events.ts'
import type { ContentLogging, EndedContent } from '../../../src/core/generation-content.ts'
import { type ContentRecord, recordFor } from '../../../src/inference/content-log/record.ts'
import type { Ending } from '../../../src/inference/reply/meter.ts'
import { caller, request } from '../fixture.ts'

const ID = 'gen-0190a000000070008008000000000000'
const record = (contentLogging?: ContentLogging, body = {}): ContentRecord | null =>
  recordFor({
    caller: caller({}, contentLogging ? { contentLogging } : {}),
    request: request({ body, stream: true }),
    generationId: ID,
    tries: [],
  })
function opened(body = {}): ContentRecord {
  const made = record({ samplingRate: 1, keyIds: null }, body)
  if (made === null) throw new Error('it is not logged')
  return made
}
const text = (words: string): InferenceEvent => ({ type: 'text-delta', choice: 0, text: words })
function loggedBy(made: ContentRecord, ending: Ending = 'complete'): EndedContent {
  const { logged } = made.end(ending)
  if (logged === null) throw new Error('it is not logged')
  return logged
}
const completionOf = async (made: ContentRecord): Promise<string> =>
  (await loggedBy(made, 'complete').content()).output.completion ?? ''
const THE_REST = '… [truncated in the log: the rest]'

test('a generation that is not logged has no record', () => {
  const { id } = caller().key
  const isLogged = (logging?: ContentLogging) => record(logging) !== null
  expect([
    isLogged(),
    isLogged({ samplingRate: 1, keyIds: new Set([id + 1]) }),
    isLogged({ samplingRate: 1, keyIds: new Set([id]) }),
    isLogged({ samplingRate: 0.0001, keyIds: null }),
  ]).toEqual([false, false, true, false])
})

test('a stream is noted up to a bound, and the cut is marked', async () => {
  const made = opened()
  for (let n = 0; n < 60; n++) made.see({ events: [text('a'.repeat(100_000))] })
  const completion = await completionOf(made)
  expect([completion.length, completion.endsWith(THE_REST)]).toEqual([4_999_000 + THE_REST.length, true])
})

test('a text of exactly the limit is not truncated; one word more is', async () => {
  const made = [opened(), opened()]
  for (const each of made) each.see({ events: [text('a'.repeat(4_999_000))] })
  made[1]?.see({ events: [text('b'), text('c')] })
  const [whole, cut] = await Promise.all(made.map(completionOf))
  expect([whole?.length, cut]).toEqual([4_999_000, `${whole}${THE_REST}`])
})

const long = 'a'.repeat(6_000_000)
const overflows: [what: string, event: InferenceEvent][] = [
  ['a word', text(long)],
  ['a call', { type: 'tool-call-delta', choice: 0, index: 0, json: long }],
  ['an image', { type: 'image', choice: 0, url: `data:image/png;base64,${long}` }],
  ['sound', { type: 'audio-delta', choice: 0, audio: { data: long } }],
]
test.each(overflows)('%s that is too long alone is cut', async (_, event) => {
  const made = opened()
  made.see({
    events: [text('Look.'), { type: 'tool-call-start', choice: 0, index: 0, id: 'c', name: 'f' }, event],
  })
  made.see({ events: [text('And more.')] })
  const completion = await completionOf(made)
  expect(completion).toContain('Look.')
  expect(completion).toContain('[truncated in the log: ')
  expect(completion).not.toContain('And more.')
  expect(completion.length).toBeLessThan(5_001_000)
})

test('nothing is noted after the end', async () => {
  const made = opened()
  made.see({ events: [text('One')] })
  const ended = loggedBy(made, 'disconnected')
  made.see({ events: [text(' two')] })
  made.fail(new GatewayError(502, 'too late'))
  expect(await ended.content()).toMatchObject({
    output: { completion: 'One' },
    error: { message: 'The client disconnected or cancelled the request before the end', status: null },
  })
})

test('of two failures the first is reported', async () => {
  const made = opened()
  made.fail(new GatewayError(529, 'busy', { metadata: { provider_name: 'Lab' } }))
  made.fail(new GatewayError(500, 'other'))
  expect((await loggedBy(made, 'truncated').content()).error).toEqual({
    message: 'busy',
    status: 529,
    provider_name: 'Lab',
    raw: null,
    previous_errors: [],
  })
})

test('speech passes as it is, and is noted up to a bound', async () => {
  const chunks = Array.from({ length: 5 }, (_, n) => new Uint8Array(1_000_000).fill(n))
  const made = opened()
  const heard: number[] = []
  async function* source() {
    yield* chunks
  }
  for await (const chunk of made.tapAudio('audio/mpeg', source())) heard.push(chunk[0] ?? -1)
  expect(heard).toEqual([0, 1, 2, 3, 4])
  const ended = loggedBy(made, 'complete')
  expect(ended.weight).toBeGreaterThan(3_000_000)
  const { media_type, data } = JSON.parse((await ended.content()).output.completion ?? '{}')
  expect([media_type, data.length]).toEqual(['audio/mpeg', 4_000_000 + THE_REST.length])
})

test('what waits weighs what it holds; what is too much to wait is cut at once', async () => {
  const of = (length: number) => opened({ messages: [{ role: 'user', content: 'a'.repeat(length) }] })
  const [held, cut] = [loggedBy(of(10_000_000)), loggedBy(of(30_000_000))]
  expect(held.weight).toBeGreaterThan(10_000_000)
  expect(cut.weight).toBeLessThan(5_100_000)
  for (const ended of [held, cut])
    expect(JSON.stringify(await ended.content()).length).toBeLessThan(5_100_000)
})
