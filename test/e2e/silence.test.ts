import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { whilePassing } from '../file-setup.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { chunk, type FakeUpstream, frames, paced, sse, startUpstream, streamed } from '../upstream.ts'

/** What a caller hears of a provider that is slow to speak. The clock is ours: it is moved, not waited for. */

let upstream: FakeUpstream
let gateway: Gateway
let now = Date.UTC(2026, 0, 1)

beforeAll(async () => {
  upstream = startUpstream()
  const models = ['slow', 'other'].map((id) => ({
    id,
    pricing: { prompt: '0.000001', completion: '0.000002' },
  }))
  const providers = [{ slug: 'lab', dialect: 'chat', base_url: upstream.baseUrl, models }]
  gateway = await startGateway({ listens: true, now: () => now, providers })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})
beforeEach(() => {
  now += 3_600_000
})

const COMMENT = ': SLUICE PROCESSING\n\n'
const ask = (more: Record<string, unknown> = {}) =>
  gateway.call('/chat/completions', {
    model: 'slow',
    stream: true,
    messages: [{ role: 'user', content: 'Hello' }],
    ...more,
  })

const whileTimePasses = <T>(wanted: Promise<T>): Promise<T> =>
  whilePassing(() => {
    now += 1_000
  }, wanted)

async function readUntil(reader: ReadableStreamDefaultReader<Uint8Array>, wanted: RegExp): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  while (!wanted.test(text)) {
    const { value, done } = await reader.read()
    if (done) return text
    text += decoder.decode(value, { stream: true })
  }
  return text
}

const readerOf = (response: Response): ReadableStreamDefaultReader<Uint8Array> => {
  if (!response.body) throw new Error('the reply has no body')
  return response.body.getReader()
}

test('a comment every five seconds of silence, before the first word and between words', async () => {
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  const parts = frames(['Hello', ' world'])
  const gates = [first.promise, undefined, second.promise]
  upstream.on('slow', () => paced(parts, 'close', async () => gates.shift()))
  const response = await whileTimePasses(ask())
  expect(response.status).toBe(200)
  const reader = readerOf(response)
  const before = await whileTimePasses(readUntil(reader, new RegExp(`(${COMMENT}){2}`)))
  expect(before).toStartWith(COMMENT + COMMENT)
  first.resolve()
  const between = await whileTimePasses(readUntil(reader, /Hello.*: SLUICE PROCESSING/s))
  expect(between).toMatch(/"content":"Hello".*\n\n: SLUICE PROCESSING\n\n$/s)
  second.resolve()
  expect(await readUntil(reader, /\[DONE\]/)).toContain(' world')
})

test('the first comment comes with the head of the reply, after five seconds', async () => {
  const gate = Promise.withResolvers<void>()
  upstream.on('slow', async () => {
    await gate.promise
    return sse(frames(['Hello']))
  })
  const reader = readerOf(await whileTimePasses(ask()))
  // No time passes any more: it is there.
  const { value } = await reader.read()
  expect(new TextDecoder().decode(value)).toBe(COMMENT)
  gate.resolve()
  expect(await readUntil(reader, /\[DONE\]/)).toContain('Hello')
})

test('a failure after the first comment is an error event; the row costs nothing', async () => {
  const gate = Promise.withResolvers<void>()
  upstream.on('slow', async () => {
    await gate.promise
    return new Response('secret', { status: 400 })
  })
  const response = await whileTimePasses(ask())
  expect(response.status).toBe(200)
  gate.resolve()
  const text = await response.text()
  expect(text).toStartWith(COMMENT)
  expect(text).toMatch(/"error":\{"code":400/)
  expect(text).toContain('"finish_reason":"error"')
  expect(text).not.toContain('[DONE]')
  expect(gateway.generations().at(-1)).toMatchObject({ cost_nano_usd: 0, finish_reason: 'error' })
})

test('fail-over is still possible after comments, until the first content', async () => {
  const gate = Promise.withResolvers<void>()
  upstream.on('slow', async () => {
    await gate.promise
    return sse([chunk({ role: 'assistant', content: '' })])
  })
  upstream.on('other', streamed(['from the other']))
  const response = await whileTimePasses(ask({ models: ['other'] }))
  gate.resolve()
  const text = await response.text()
  expect(text).toStartWith(COMMENT)
  expect(text).toContain('from the other')
  expect(text).toEndWith('data: [DONE]\n\n')
})

describe('an early failure keeps its own status', () => {
  test('within five seconds', async () => {
    upstream.on('slow', () => new Response('no', { status: 413 }))
    expect((await ask()).status).toBe(413)
  })
})

test('half a second after the model has begun its role is shown, once, and another endpoint may still answer', async () => {
  const silent = Promise.withResolvers<void>()
  const [role = ''] = frames([])
  const gates = [undefined, silent.promise]
  upstream.on('slow', () => paced([role, ': ping\n\n'], 'error', async () => gates.shift()))
  upstream.on('other', streamed(['Hello']))
  const reader = readerOf(await whileTimePasses(ask({ model: undefined, models: ['slow', 'other'] })))
  const shown = await whileTimePasses(readUntil(reader, /"role":"assistant"/))
  expect(shown).toContain('"delta":{"role":"assistant","content":""}')
  expect(shown).not.toContain('Hello')
  silent.resolve()
  const rest = await readUntil(reader, /\[DONE\]/)
  expect(rest).toContain('"content":"Hello"')
  expect(rest).not.toContain('"role"')
})
