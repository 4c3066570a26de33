import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { nanoUsdOf } from '../../src/core/money.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { frames, sse, USAGE } from '../upstream.ts'

/** Requests that only running reservations keep out wait for them: a limit that pays for ten answers gives ten. */

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const BURST = 200
const messages = [{ role: 'user', content: 'Hello' }]

let gateway: Gateway
/** The provider answers when this resolves. */
let mayAnswer: Promise<unknown> = Promise.resolve()
let calls = 0

const answers: Record<string, (body: Record<string, unknown>) => Response> = {
  '/chat/completions': ({ stream }) =>
    stream
      ? sse(frames(['Hi']))
      : Response.json({
          id: 'up',
          object: 'chat.completion',
          created: 1,
          model: 'up',
          choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hi' } }],
          usage: USAGE,
        }),
  '/embeddings': () => Response.json({ data: [{ embedding: [1] }], usage: { prompt_tokens: 2 } }),
  '/rerank': () => Response.json({ results: [{ index: 0, relevance_score: 1 }], usage: { total_tokens: 2 } }),
  '/images/generations': () => Response.json({ created: 1, data: [{ b64_json: PNG }] }),
  '/audio/speech': () => new Response('sound', { headers: { 'content-type': 'audio/pcm' } }),
  '/audio/transcriptions': () => Response.json({ text: 'a', usage: { type: 'duration', seconds: 1 } }),
}

const upstream = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const body: Record<string, unknown> = request.headers.get('content-type')?.startsWith('multipart/')
      ? {}
      : await request.json()
    calls += 1
    await mayAnswer
    const answer = answers[new URL(request.url).pathname.replace('/v1', '')]
    return answer?.(body) ?? new Response(null, { status: 404 })
  },
})

beforeAll(async () => {
  gateway = await startGateway({
    environment: { SLUICE_ROOM_WAIT_MS: '20000' },
    providers: [
      {
        slug: 'lab',
        base_url: `http://127.0.0.1:${upstream.port}/v1`,
        models: [
          {
            id: 'all',
            max_completion_tokens: 100_000,
            pricing: {
              prompt: '0.000001',
              completion: '0.000002',
              request: '0.0001',
              image: '0.001',
              audio_second: '0.0001',
              input_character: '0.00001',
            },
          },
        ],
      },
    ],
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})

const withKey = (key: string) => ({ authorization: `Bearer ${key}` })
const spentBy = (hash: string) => {
  const rows = gateway.generations().filter((row) => row['key_hash'] === hash)
  return { answers: rows.length, nanoUsd: rows.reduce((sum, row) => sum + Number(row['cost_nano_usd']), 0) }
}

const routes: [path: string, body: Record<string, unknown>][] = [
  ['/chat/completions', { messages, max_tokens: 4000 }],
  ['/chat/completions', { messages, max_tokens: 4000, stream: true }],
  ['/responses', { input: 'Hello', max_output_tokens: 4000 }],
  ['/responses', { input: 'Hello', max_output_tokens: 4000, stream: true }],
  ['/messages', { messages, max_tokens: 4000 }],
  ['/messages', { messages, max_tokens: 4000, stream: true }],
  ['/embeddings', { input: 'A sentence that is estimated at more tokens than are counted' }],
  ['/rerank', { query: 'What is estimated at more than two tokens?', documents: ['a', 'b'] }],
  ['/images/generations', { prompt: 'a cat' }],
  ['/audio/speech', { input: 'Hello' }],
  ['/audio/transcriptions', { input_audio: { data: 'A'.repeat(64_000), format: 'mp3' } }],
]

describe.each(routes)('%s', (path, fields) => {
  const send = (key: string) => gateway.call(path, { model: 'all', ...fields }, withKey(key))

  test(`a burst of ${BURST} on a limit that pays for ten answers gets ten, and nothing is overshot`, async () => {
    const free = await gateway.makeKey({})
    await (await send(free.key)).text()
    const { nanoUsd: cost } = spentBy(free.hash)
    const broke = await gateway.makeKey({ limit: 0 })
    const refused = await (await send(broke.key)).text()
    const needed = nanoUsdOf(Number(/needs up to \$([\d.]+\d)/.exec(refused)?.[1]))
    expect(needed).toBeGreaterThanOrEqual(cost)
    const limit = 9 * cost + needed

    const { key, hash } = await gateway.makeKey({ limit: limit / 1e9 })
    const statuses = await Promise.all(
      Array.from({ length: BURST }, async () => {
        const reply = await send(key)
        await reply.text()
        return reply.status
      }),
    )
    expect(statuses.filter((status) => status === 200)).toHaveLength(10)
    expect(statuses.filter((status) => status === 402)).toHaveLength(BURST - 10)
    expect(spentBy(hash)).toEqual({ answers: 10, nanoUsd: 10 * cost })
    expect(10 * cost).toBeLessThanOrEqual(limit)
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  })
})

/** A key that pays for one answer at a time, with a request of it at the provider. */
async function occupied() {
  const gate = Promise.withResolvers<void>()
  mayAnswer = gate.promise
  const { key, hash } = await gateway.makeKey({ limit: 0.009 })
  const body = { model: 'all', messages, max_tokens: 4000 }
  const before = calls
  const first = gateway.call('/chat/completions', body, withKey(key))
  while (calls === before) await Bun.sleep(1)
  return { key, hash, body, first, answer: () => gate.resolve() }
}
const turns = async (count = 5) => {
  for (let turn = 0; turn < count; turn++) await Bun.sleep(1)
}

test('a request that waits holds no rate tokens, blocks no other key, and is served once the budget suffices', async () => {
  const { key, body, first, answer } = await occupied()
  const before = calls
  const second = gateway.call('/chat/completions', body, withKey(key))
  await turns()
  expect(calls).toBe(before)
  const other = await gateway.makeKey({ limit: 0.009 })
  const beside = gateway.call('/chat/completions', body, withKey(other.key))
  while (calls === before) await Bun.sleep(1)
  answer()
  expect([(await first).status, (await beside).status, (await second).status]).toEqual([200, 200, 200])
})

test('a caller that disconnects while it waits leaves the queue and costs nothing', async () => {
  const { key, hash, body, first, answer } = await occupied()
  const leaving = new AbortController()
  const waiting = gateway.abortable('/chat/completions', body, withKey(key), leaving.signal)
  await turns()
  leaving.abort()
  expect((await waiting).status).toBe(499)
  expect(gateway.deps.run.running.count()).toBe(1)
  answer()
  expect((await first).status).toBe(200)
  expect(spentBy(hash).answers).toBe(1)
})

test('budgets of a workspace wait too, and are refused with 403 when the money is spent', async () => {
  const made = await (await gateway.manage('POST', '/workspaces', { name: 'Small', slug: 'small' })).json()
  const workspace = made.data.id
  await gateway.manage('PUT', `/workspaces/${workspace}/budgets/daily`, { limit_usd: 0.009 })
  const { key } = await gateway.makeKey({ workspace_id: workspace })
  const gate = Promise.withResolvers<void>()
  mayAnswer = gate.promise
  const body = { model: 'all', messages, max_tokens: 4000 }
  const replies = [1, 2, 3].map(() => gateway.call('/chat/completions', body, withKey(key)))
  await turns()
  gate.resolve()
  expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([200, 200, 200])
  const tooMuch = await gateway.call('/chat/completions', { ...body, max_tokens: 9000 }, withKey(key))
  expect(tooMuch.status).toBe(403)
  expect((await tooMuch.json()).error.message).toContain('max_tokens')
})

test('the drain ends requests that wait, with a 503', async () => {
  const { key, body, first, answer } = await occupied()
  const waiting = gateway.call('/chat/completions', body, withKey(key))
  await turns()
  const drained = gateway.deps.run.running.drain(0)
  const refused = await waiting
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([503, true])
  answer()
  await first
  await drained
})
