import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createOnce } from '../../src/admin/once.ts'
import { createApp } from '../../src/app.ts'
import type { Handler } from '../../src/http/edge.ts'
import { objectOf } from '../../src/http/json.ts'
import { type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { call, type Reply } from '../scenario.ts'

let now = Date.UTC(2026, 6, 15, 12)
let gateway: Gateway
let handler: Handler

beforeAll(async () => {
  gateway = await startGateway({ now: () => now })
  handler = createApp(gateway.deps)
})
afterAll(() => gateway.stop())

const post = (path: string, body: unknown, key?: string): Promise<Reply> =>
  call(handler, {
    method: 'POST',
    path,
    key: MANAGEMENT_KEY,
    body,
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  })
const count = async (): Promise<unknown> =>
  objectOf((await call(handler, { path: '/v1/keys', key: MANAGEMENT_KEY })).json)['total_count']
const rows = () =>
  gateway.database.file.query<{ n: number }, []>('SELECT count(*) AS n FROM idempotency_keys').get()?.n

test('the same key and body make one thing and get one answer, secret and all, under both prefixes', async () => {
  const first = await post('/v1/keys', { name: 'once', limit: 1 }, 'order-1')
  const before = await count()
  const again = await post('/api/v1/keys', { name: 'once', limit: 1 }, 'order-1')
  expect([again.status, again.json]).toEqual([first.status, first.json])
  expect([first.headers.get('idempotent-replayed'), again.headers.get('idempotent-replayed')]).toEqual([
    null,
    'true',
  ])
  expect(await count()).toBe(before)
})

test('the stored reply is sealed: the key that it contains is nowhere in the file', async () => {
  const { key } = objectOf((await post('/v1/keys', { name: 'sealed' }, 'order-2')).json)
  const texts = gateway.database.file
    .query<{ a: string }, []>('SELECT sealed_answer AS a FROM idempotency_keys')
    .all()
  expect(texts.length).toBeGreaterThan(0)
  expect(JSON.stringify(texts)).not.toContain(String(key))
})

test('a hundred at once make one thing', async () => {
  const before = Number(await count())
  const replies = await Promise.all(
    Array.from({ length: 100 }, () => post('/v1/keys', { name: 'rush' }, 'order-3')),
  )
  expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
  expect(await count()).toBe(before + 1)
})

test('without a key each request makes its own', async () => {
  const before = Number(await count())
  for (let time = 0; time < 2; time++) await post('/v1/keys', { name: 'twice' })
  expect(await count()).toBe(before + 2)
})

test('another body, or another route, under a used key is a 409', async () => {
  await post('/v1/keys', { name: 'mine' }, 'order-4')
  for (const reply of [
    await post('/v1/keys', { name: 'other' }, 'order-4'),
    await post('/v1/workspaces', { name: 'mine', slug: 'mine' }, 'order-4'),
  ]) {
    expect([reply.status, reply.text]).toEqual([409, expect.stringContaining('Idempotency-Key')])
  }
})

test('a rejected request can be corrected and sent again with its key', async () => {
  expect((await post('/v1/workspaces', { name: 'Lab', slug: 'default' }, 'order-5')).status).toBe(409)
  expect((await post('/v1/workspaces', { name: 'Lab', slug: 'lab' }, 'order-5')).status).toBe(200)
  expect((await post('/v1/guardrails', { name: 'g', limit_usd: 1 }, 'order-6')).status).toBe(400)
  const made = await post('/v1/guardrails', { name: 'g' }, 'order-6')
  const again = await post('/v1/guardrails', { name: 'g' }, 'order-6')
  expect([again.status, again.json]).toEqual([201, made.json])
})

test('an answer that was lost between the making and the telling is not made again', async () => {
  const deps = { ...gateway.deps, once: createOnce(gateway.deps) }
  const app = createApp(deps)
  const ask = () =>
    call(app, {
      method: 'POST',
      path: '/v1/keys',
      key: MANAGEMENT_KEY,
      headers: { 'idempotency-key': 'order-7' },
      body: { name: 'lost' },
    })
  await ask()
  // As a crash right after the creation leaves it.
  gateway.database.file.run(
    "UPDATE idempotency_keys SET sealed_answer = NULL WHERE idempotency_key = 'order-7'",
  )
  const before = await count()
  const again = await ask()
  expect([again.status, again.text]).toEqual([409, expect.stringContaining('its reply is lost')])
  expect(await count()).toBe(before)
})

test.each(['', ' ', 'a b', 'ü', 'k'.repeat(256)].filter((key) => key.trim() !== ''))(
  'the key %j is malformed',
  async (key) => {
    const headers = new Headers()
    // What fetch itself would refuse never reaches us.
    try {
      headers.set('idempotency-key', key)
    } catch {
      return
    }
    const reply = await post('/v1/keys', { name: 'x' }, key)
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('Idempotency-Key')])
  },
)

test('a day later the key is free, and its row is gone', async () => {
  const first = await post('/v1/keys', { name: 'daily' }, 'order-8')
  now += 24 * 3600 * 1000
  const next = await post('/v1/keys', { name: 'daily' }, 'order-8')
  expect([next.status, next.text === first.text]).toEqual([200, false])
  expect(rows()).toBe(1)
})
