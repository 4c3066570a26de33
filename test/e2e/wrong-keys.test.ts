import { Database as SqliteFile } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { newKey } from '../../src/core/keys.ts'
import type { Handler } from '../../src/http/edge.ts'
import { API_KEY, type Gateway, startGateway } from '../gateway.ts'
import { call, expectEnvelope } from '../scenario.ts'

/** A flood of wrong keys: each is a 401 out of memory, all of them are counted, and other callers are served as usual. */

let gateway: Gateway
let handler: Handler
const lines: string[] = []
beforeAll(async () => {
  countStatements()
  gateway = await startGateway({ log: (line) => lines.push(line) })
  handler = createApp({ ...gateway.deps, addressOf: () => '203.0.113.9' })
})
afterAll(async () => {
  countNoMore()
  await gateway.stop()
})

const PATHS = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1/embeddings',
  '/v1/keys',
  '/v1/files',
]
const CHAT = { model: 'sluice/demo', messages: [{ role: 'user', content: 'Hi' }] }
const warnings = () => lines.filter((line) => line.includes('requests with wrong API keys'))

const { prepare } = SqliteFile.prototype
let statements = 0
/** Every statement that is prepared from now on counts when it runs. */
function countStatements(): void {
  const counted = function (this: SqliteFile, ...args: Parameters<typeof prepare>) {
    const statement = prepare.apply(this, args)
    for (const method of ['get', 'all', 'run', 'values', 'raw', 'iterate']) {
      const work: unknown = Reflect.get(statement, method)
      if (typeof work !== 'function') continue
      const value = (...bound: unknown[]): unknown => {
        statements += 1
        return Reflect.apply(work, statement, bound)
      }
      Object.defineProperty(statement, method, { value })
    }
    return statement
  }
  Object.defineProperty(SqliteFile.prototype, 'prepare', { value: counted, configurable: true })
}
const countNoMore = () =>
  Object.defineProperty(SqliteFile.prototype, 'prepare', { value: prepare, configurable: true })

test('10,000 wrong keys are 10,000 times 401, without a statement, and one warning; a right key is answered', async () => {
  // Those that are let in do run some: what is counted is what runs.
  expect((await call(handler, { path: '/v1/files', key: API_KEY })).status).toBe(200)
  expect(statements).toBeGreaterThan(0)
  lines.length = 0
  const keys = Array.from({ length: 10_000 }, (_, index) =>
    index % 3 === 0 ? newKey('inference') : `nobody-has-this-key-0123456789-${index}`,
  )
  const statuses = new Map<number, number>()
  statements = 0
  for (const [index, key] of keys.entries()) {
    const path = PATHS[index % PATHS.length] ?? ''
    const isRead = index % 2 === 0 && path.length < 10
    const reply = await call(handler, { path, key, ...(isRead ? {} : { method: 'POST', body: '{nope' }) })
    statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1)
    if (index === 5_000) expectEnvelope({ ...reply, json: objectIn(reply.text) })
  }
  expect([...statuses]).toEqual([[401, 10_000]])
  expect(statements).toBe(0)
  expect([gateway.deps.wrongKeys.total(), gateway.deps.wrongKeys.addresses()]).toEqual([10_000, 1])
  // The first ten requests have a line of their own.
  expect([lines.length, warnings().length]).toEqual([10, 0])
  const right = await call(handler, {
    method: 'POST',
    path: '/v1/chat/completions',
    key: API_KEY,
    body: CHAT,
  })
  expect(right.status).toBe(200)
  gateway.deps.wrongKeys.report()
  expect(warnings()).toHaveLength(1)
  expect(JSON.parse(warnings()[0] ?? '')).toMatchObject({
    level: 40,
    wrong_keys: 10_000,
    addresses: 1,
    most_from: [{ address: '203.0.113.9', count: 10_000 }],
  })
  const written = lines.join('')
  expect(keys.filter((key) => written.includes(key))).toEqual([])
})

/** Envelope of either dialect. */
function objectIn(text: string): unknown {
  const body = JSON.parse(text)
  return body.type === 'error' ? { error: { code: 401, message: body.error.message } } : body
}

test('no key at all, a disabled one and a wrong one in x-api-key', async () => {
  const before = gateway.deps.wrongKeys.total()
  expect((await call(handler, { path: '/v1/keys' })).status).toBe(401)
  expect(gateway.deps.wrongKeys.total()).toBe(before)
  const { key, hash } = await gateway.makeKey({})
  await gateway.manage('PATCH', `/keys/${hash}`, { disabled: true })
  expect((await call(handler, { path: '/v1/key', key })).status).toBe(401)
  const sent = { method: 'POST', path: '/v1/messages', headers: { 'x-api-key': 'wrong' }, body: CHAT }
  expect((await call(handler, sent)).status).toBe(401)
  expect(gateway.deps.wrongKeys.total()).toBe(before + 2)
})
