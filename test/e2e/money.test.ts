import { describe, expect, test } from 'bun:test'
import { gatewayOfFile, labOf } from '../file-setup.ts'
import { chunk, frames, paced, sse, startUpstream, unary } from '../upstream.ts'

let now = Date.UTC(2026, 2, 11, 12)

const CENT = 10_000_000

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    now: () => now,
    providers: [
      labOf(upstream, [
        // A cent for each answer: all of it is the request fee.
        { id: 'cent', pricing: { prompt: '0', completion: '0', request: '0.01' } },
        { id: 'tokens', max_completion_tokens: 100_000, pricing: { prompt: '0', completion: '0.000001' } },
        { id: 'unpriced' },
        // Prices of a million tokens, written as those of one.
        { id: 'mistaken', max_completion_tokens: 1_000_000, pricing: { prompt: '3', completion: '15' } },
      ]),
    ],
  },
  upstream,
)

const ask = (model: string, more: Record<string, unknown> = {}) => ({
  model,
  messages: [{ role: 'user', content: 'Hello' }],
  ...more,
})
const withKey = (key: string) => ({ authorization: `Bearer ${key}` })
const rowsOf = (hash: string) => gateway.generations().filter((row) => row['key_hash'] === hash)
const spentBy = (hash: string) => rowsOf(hash).reduce((sum, row) => sum + Number(row['cost_nano_usd']), 0)
const keyRecord = async (hash: string) => (await (await gateway.manage('GET', `/keys/${hash}`)).json()).data

describe('a price that was meant for a million tokens', () => {
  test.each([{}, { limit: 5 }])('is named in a 400, and not a failure of ours: %p', async (limits) => {
    const { key, hash } = await gateway.makeKey(limits)
    const response = await gateway.call('/chat/completions', ask('mistaken'), withKey(key))
    expect(response.status).toBe(400)
    expect((await response.json()).error.message).toContain("the model's price must be in USD per token")
    expect(rowsOf(hash)).toEqual([])
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  })
})

describe('500 parallel requests of a cent on a ten-cent key', () => {
  for (const stream of [false, true]) {
    test(stream ? 'streamed' : 'unary', async () => {
      upstream.on('cent', stream ? () => sse(frames(['x'])) : unary('x'))
      const { key, hash } = await gateway.makeKey({ limit: 0.1, limit_reset: 'daily' })
      const replies = await Promise.all(
        Array.from({ length: 500 }, async () => {
          const response = await gateway.call(
            '/chat/completions',
            ask('cent', { stream, max_tokens: 5 }),
            withKey(key),
          )
          return { status: response.status, text: await response.text() }
        }),
      )
      const answered = replies.filter(({ status }) => status === 200)
      const refused = replies.filter(({ status }) => status === 402)
      expect(answered).toHaveLength(10)
      expect(refused).toHaveLength(490)
      expect(spentBy(hash)).toBe(10 * CENT)
      expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
      const { error } = JSON.parse(refused[0]?.text ?? '')
      expect(error.message).toMatch(/daily limit of \$0\.10/)
      expect(error.message).toMatch(/used/)
      expect(error.message).toMatch(/held/)
      expect(error.message).toContain('2026-03-12T00:00:00Z')
      expect(await keyRecord(hash)).toMatchObject({ usage: 0.1, usage_daily: 0.1, limit_remaining: 0 })
    })
  }
})

test('the limit is open again after midnight, and the counters of longer windows stay', async () => {
  upstream.on('cent', unary('x'))
  const { key, hash } = await gateway.makeKey({ limit: 0.01, limit_reset: 'daily' })
  const send = async () =>
    (await gateway.call('/chat/completions', ask('cent', { max_tokens: 1 }), withKey(key))).status
  expect([await send(), await send()]).toEqual([200, 402])
  now = Date.UTC(2026, 2, 12, 0, 0, 1)
  expect(await send()).toBe(200)
  expect(await keyRecord(hash)).toMatchObject({
    usage: 0.02,
    usage_daily: 0.01,
    usage_weekly: 0.02,
    usage_monthly: 0.02,
  })
})

// 10,000, 30,000, 3,000 and 1,500 tokens are left: the floor, a quarter, all of it twice.
test.each([
  [0.01, 4096],
  [0.03, 7500],
  [0.003, 3000],
  [0.0015, 1500],
])('without max_tokens a key with $%d left sends and names a bound of %d', async (limit, bound) => {
  upstream.on('tokens', unary('x'))
  const { key } = await gateway.makeKey({ limit })
  upstream.seen.length = 0
  const response = await gateway.call('/chat/completions', ask('tokens'), {
    ...withKey(key),
    'x-service-metadata': 'enabled',
  })
  expect(response.status).toBe(200)
  expect(upstream.seen[0]?.body['max_tokens']).toBe(bound)
  expect((await response.json()).service_metadata.params).toMatchObject({ max_tokens: bound })
})

test('when not even 1,024 tokens fit, the refusal names max_tokens; a small one passes', async () => {
  upstream.on('tokens', unary('x'))
  const { key } = await gateway.makeKey({ limit: 0.001 })
  const refused = await gateway.call('/chat/completions', ask('tokens'), withKey(key))
  expect(refused.status).toBe(402)
  expect((await refused.json()).error.message).toContain('max_tokens')
  const passed = await gateway.call('/chat/completions', ask('tokens', { max_tokens: 100 }), withKey(key))
  expect(passed.status).toBe(200)
})

test('an unlimited key is sent no bound that it did not set', async () => {
  upstream.on('tokens', unary('x'))
  upstream.seen.length = 0
  expect((await gateway.call('/chat/completions', ask('tokens'))).status).toBe(200)
  expect(upstream.seen[0]?.body).not.toHaveProperty('max_tokens')
})

test('an unpriced model is refused with how to set a price, and nothing is sent', async () => {
  upstream.seen.length = 0
  const response = await gateway.call('/chat/completions', ask('unpriced'))
  expect(response.status).toBe(400)
  expect((await response.json()).error.message).toMatch(/pricing.*SLUICE_UNPRICED/)
  expect(upstream.seen).toEqual([])
})

test('a change of the limit holds for the next request; a disabled, deleted or expired key is a 401', async () => {
  upstream.on('cent', unary('x'))
  const { key, hash } = await gateway.makeKey({ limit: 0 })
  const send = async () =>
    (await gateway.call('/chat/completions', ask('cent', { max_tokens: 1 }), withKey(key))).status
  expect(await send()).toBe(402)
  await gateway.manage('PATCH', `/keys/${hash}`, { limit: null })
  expect(await send()).toBe(200)
  await gateway.manage('PATCH', `/keys/${hash}`, { disabled: true })
  expect(await send()).toBe(401)
  await gateway.manage('PATCH', `/keys/${hash}`, { disabled: false })
  expect(await send()).toBe(200)
  await gateway.manage('DELETE', `/keys/${hash}`)
  expect(await send()).toBe(401)
})

test('a request books to the window in which it started', async () => {
  const gate = Promise.withResolvers<void>()
  const { key, hash } = await gateway.makeKey({ limit: 1, limit_reset: 'daily' })
  upstream.on('cent', () => paced(frames(['late']), 'close', () => gate.promise))
  now = Date.UTC(2026, 3, 1, 23, 59, 59)
  const reply = gateway.call('/chat/completions', ask('cent', { stream: true, max_tokens: 5 }), withKey(key))
  while (upstream.seen.at(-1)?.body['model'] !== 'cent') await Bun.sleep(1)
  now = Date.UTC(2026, 3, 2, 0, 0, 5)
  gate.resolve()
  await (await reply).text()
  expect(await keyRecord(hash)).toMatchObject({ usage: 0.01, usage_daily: 0, limit_remaining: 1 })
  expect(rowsOf(hash)[0]?.['created_at']).toBe(Date.UTC(2026, 3, 1, 23, 59, 59))
})

test('a cut answer is charged for what was delivered, at most the hold', async () => {
  upstream.on('tokens', () => sse([chunk({ content: 'word '.repeat(40) })]))
  const { key, hash } = await gateway.makeKey({ limit: 1 })
  await (
    await gateway.call('/chat/completions', ask('tokens', { stream: true, max_tokens: 20 }), withKey(key))
  ).text()
  // Two hundred characters are fifty tokens by our count; the hold was for twenty.
  expect(spentBy(hash)).toBe(20_000)
})

test('GET /activity adds up to the counters', async () => {
  const { key, hash } = await gateway.makeKey({ name: 'activity' })
  upstream.on('cent', unary('x'))
  for (let i = 0; i < 3; i++) await gateway.call('/chat/completions', ask('cent'), withKey(key))
  upstream.on('cent', () => new Response('', { status: 400 }))
  await gateway.call('/chat/completions', ask('cent'), withKey(key))
  const { data } = await (await gateway.manage('GET', `/activity?api_key_hash=${hash}`)).json()
  const sum = (field: string) =>
    data.reduce((total: number, item: Record<string, number>) => total + (item[field] ?? 0), 0)
  expect(sum('requests')).toBe(4)
  expect(sum('usage')).toBeCloseTo(0.03, 9)
  expect(await keyRecord(hash)).toMatchObject({ usage: 0.03 })
})
