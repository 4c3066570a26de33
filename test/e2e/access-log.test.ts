import { beforeEach, expect, test } from 'bun:test'
import { gatewayOfFile } from '../file-setup.ts'
import { API_KEY, MANAGEMENT_KEY } from '../gateway.ts'
import { frames, paced, startUpstream, streamed, unary } from '../upstream.ts'

/** One line for each request, however it ends. The clock is ours. */

let now = Date.UTC(2026, 0, 1)
let lines: Record<string, unknown>[] = []

const PROMPT = 'a prompt that no log may hold'
const UPSTREAM_KEY = 'a-secret-of-the-provider-0123456789'
const MESSAGES = [{ role: 'user', content: PROMPT }]

const upstream = startUpstream()
const models = [{ id: 'tiny', pricing: { prompt: '0.000001', completion: '0.000002' } }]
const gateway = await gatewayOfFile(
  {
    listens: true,
    now: () => now,
    providers: [
      {
        slug: 'lab',
        dialect: 'chat',
        base_url: upstream.baseUrl,
        api_key: UPSTREAM_KEY,
        models,
        timeouts: { first_byte_ms: 500 },
      },
    ],
    log(line) {
      for (const secret of [PROMPT, UPSTREAM_KEY, API_KEY, MANAGEMENT_KEY]) expect(line).not.toContain(secret)
      lines.push(JSON.parse(line))
    },
  },
  upstream,
)

beforeEach(() => {
  lines = []
  now += 3_600_000
})

const requests = () => lines.filter((line) => line['msg'] === 'request')

/** The only line of a request, once it is there and nothing more comes. */
async function theLine(): Promise<Record<string, unknown>> {
  for (let n = 0; n < 400 && requests().length === 0; n++) await Bun.sleep(5)
  await Bun.sleep(30)
  expect(requests()).toHaveLength(1)
  return requests()[0] ?? {}
}

const ask = (more: Record<string, unknown> = {}, signal?: AbortSignal) =>
  fetch(`${gateway.url}/api/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'tiny', messages: MESSAGES, ...more }),
    ...(signal ? { signal } : {}),
  })

const GENERATED = {
  request_id: expect.stringMatching(/^req-/),
  generation_id: expect.stringMatching(/^gen-/),
  key: expect.stringContaining('...'),
  model: 'tiny',
  provider: 'lab',
  total_ms: expect.any(Number),
}
const FAILED = { ...GENERATED, finish: 'error', first_token_ms: null, completion_tokens: 0, cost_usd: 0 }

test('an answer that is not streamed', async () => {
  upstream.on('tiny', unary('Hello'))
  await (await ask()).text()
  expect(await theLine()).toMatchObject({
    ...GENERATED,
    method: 'POST',
    path: '/api/v1/chat/completions',
    status: 200,
    finish: 'stop',
    streamed: false,
    first_token_ms: expect.any(Number),
    prompt_tokens: 10,
    completion_tokens: 5,
    cost_usd: 0.00002,
  })
})

test('a stream', async () => {
  upstream.on('tiny', streamed(frames(['Hello'])))
  await (await ask({ stream: true })).text()
  expect(await theLine()).toMatchObject({
    ...GENERATED,
    status: 200,
    finish: 'stop',
    streamed: true,
    cost_usd: 0.00002,
  })
})

test.each([false, true])('a provider that fails, streamed: %p', async (stream) => {
  upstream.on('tiny', () => Response.json({ error: { message: UPSTREAM_KEY } }, { status: 400 }))
  expect((await ask({ stream })).status).toBe(400)
  expect(await theLine()).toMatchObject({ ...FAILED, status: 400, streamed: stream })
})

test('a stream that fails after its first comment', async () => {
  upstream.on('tiny', () => paced([], 'hang'))
  const passing = setInterval(() => {
    now += 1_000
  }, 5)
  const reply = await ask({ stream: true })
  const text = await reply.text()
  clearInterval(passing)
  expect(text).toContain('"code":524')
  expect(await theLine()).toMatchObject({ ...FAILED, status: 200, streamed: true })
})

test.each([false, true])('a client that disconnects before the first word, streamed: %p', async (stream) => {
  const arrived = Promise.withResolvers<void>()
  upstream.on('tiny', () => {
    arrived.resolve()
    return paced([], 'hang')
  })
  const leaving = new AbortController()
  const reply = ask({ stream }, leaving.signal).catch(() => null)
  await arrived.promise
  await Bun.sleep(20)
  leaving.abort()
  await reply
  expect(await theLine()).toMatchObject({ ...GENERATED, status: 499, cancelled: true, first_token_ms: null })
})

test('a client that disconnects in mid-stream', async () => {
  upstream.on('tiny', () => paced(frames(['Hello', ' you']).slice(0, 2), 'hang'))
  const leaving = new AbortController()
  const reply = await ask({ stream: true }, leaving.signal)
  await reply.body?.getReader().read()
  leaving.abort()
  expect(await theLine()).toMatchObject({ ...GENERATED, status: 200, cancelled: true })
})

test('a request that is not inference names its caller too, refused or not', async () => {
  await gateway.manage('GET', '/keys')
  expect(await theLine()).toMatchObject({ path: '/api/v1/keys', status: 200, key: 'tes...hij' })
  lines = []
  await gateway.call('/keys', { name: 'x' })
  expect(await theLine()).toMatchObject({ method: 'POST', status: 403, key: 'tes...hij' })
})
