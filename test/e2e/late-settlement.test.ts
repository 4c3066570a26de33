import { afterEach, beforeEach, expect, test } from 'bun:test'
import { labOf } from '../file-setup.ts'
import { fill, makeRoom } from '../full-disk.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { type FakeUpstream, frames, sse, startUpstream, unary } from '../upstream.ts'

/** On a full disk what is under way ends with an error, and what it cost is committed once there is room again. */

const CENT = 10_000_000
let upstream: FakeUpstream
let gateway: Gateway
let mayAnswer: PromiseWithResolvers<void>

beforeEach(async () => {
  upstream = startUpstream()
  mayAnswer = Promise.withResolvers()
  gateway = await startGateway({
    listens: true,
    lateMs: 200,
    environment: { SLUICE_ROOM_WAIT_MS: '60000' },
    providers: [
      labOf(upstream, [{ id: 'cent', pricing: { prompt: '0', completion: '0', request: '0.01' } }]),
    ],
  })
  upstream.on('cent', async (seen, request) => {
    await mayAnswer.promise
    return seen.body['stream'] ? sse(frames(['Hello'])) : unary('Hello')(seen, request)
  })
})
afterEach(async () => {
  await gateway.stop()
  await upstream.stop()
})

const messages = [{ role: 'user', content: 'Hello' }]
const routes: [path: string, body: Record<string, unknown>][] = [
  ['/chat/completions', { messages, max_tokens: 5 }],
  ['/chat/completions', { messages, max_tokens: 5, stream: true }],
  ['/messages', { messages, max_tokens: 5 }],
  ['/messages', { messages, max_tokens: 5, stream: true }],
  ['/responses', { input: 'Hi', max_output_tokens: 16 }],
  ['/responses', { input: 'Hi', max_output_tokens: 16, stream: true }],
]

test('every request under way ends within seconds, and every cent is committed once, later', async () => {
  // So many that most of them settle after the limit is used up.
  const { key, hash } = await gateway.makeKey({ limit: 0.3 })
  const withKey = { authorization: `Bearer ${key}` }
  const sent = Array.from({ length: 5 }, () => routes).flat()
  const replies = sent.map(async ([path, body]) => {
    const reply = await gateway.call(path, { model: 'cent', ...body }, withKey)
    return { path, stream: body['stream'] === true, status: reply.status, text: await reply.text() }
  })
  while (upstream.seen.length < sent.length) await Bun.sleep(1)
  // All the money is held: this one waits for room.
  const waiting = gateway.call('/chat/completions', { model: 'cent', messages, max_tokens: 5 }, withKey)
  await Bun.sleep(5)
  fill(gateway.database)
  mayAnswer.resolve()
  const ended = await Promise.all(replies)
  const late = ended.filter(({ status, text }) => status === 503 || text.includes('could not be recorded'))
  expect(late.length).toBeGreaterThan(sent.length / 2)
  for (const { path, stream, status, text } of late) {
    expect([stream, status]).toEqual([stream, stream ? 200 : 503])
    if (stream) expect(text).toContain('could not be recorded')
    for (const terminal of ['message_stop', 'response.completed']) expect(text).not.toContain(terminal)
    if (path === '/chat/completions') expect(text).not.toContain('[DONE]')
  }
  expect((await waiting).status).toBe(503)
  // What is not committed is still held.
  const committed = gateway.generations().length
  expect(gateway.deps.ledger.heldNanoUsd()).toBe((sent.length - committed) * CENT)

  makeRoom(gateway.database)
  while (!gateway.deps.ledger.isWritable()) await Bun.sleep(5)
  const rows = gateway.generations().filter((row) => row['key_hash'] === hash)
  expect(rows.map((row) => row['cost_nano_usd'])).toEqual(sent.map(() => CENT))
  expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
})
