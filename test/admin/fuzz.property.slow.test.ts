/** Whatever is asked, the answer is a 2xx of the declared form or a refusal in the envelope: never a 5xx. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createApp } from '../../src/app.ts'
import type { Handler } from '../../src/http/edge.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { call, expectEnvelope } from '../scenario.ts'

const RUNS = { numRuns: 400, seed: 11 }
let gateway: Gateway
let handler: Handler
let hash: string

beforeAll(async () => {
  gateway = await startGateway()
  handler = createApp(gateway.deps)
  hash = (await gateway.makeKey({ name: 'target' })).hash
})
afterAll(() => gateway.stop())

async function expectAnswer(scenario: Parameters<typeof call>[1]): Promise<void> {
  const reply = await call(handler, scenario)
  if (reply.status >= 500) throw new Error(`${reply.status}: ${reply.text}`)
  if (reply.status >= 400) expectEnvelope(reply)
}

const text = fc.string({ unit: 'binary', maxLength: 60 })
const anything = fc.oneof(text, fc.double(), fc.integer(), fc.boolean(), fc.constant(null), fc.jsonValue())
const likely = {
  name: fc.oneof(text, anything),
  limit: fc.oneof(fc.double(), fc.integer(), anything),
  limit_reset: fc.oneof(fc.constantFrom('daily', 'weekly', 'monthly', null), anything),
  expires_at: fc.oneof(
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    anything,
  ),
  include_byok_in_limit: fc.oneof(fc.boolean(), anything),
  disabled: fc.oneof(fc.boolean(), anything),
  workspace_id: fc.oneof(fc.uuid(), anything),
  creator_user_id: anything,
  external: fc.oneof(fc.record({ user: text }), anything),
  __proto__: anything,
  constructor: anything,
}
const body = fc.oneof(
  fc.record(likely, { requiredKeys: [] }),
  fc.record({ name: text, limit: fc.double({ min: 0 }) }),
  fc.jsonValue(),
)

test('POST /keys', async () => {
  await fc.assert(
    fc.asyncProperty(body, (value) =>
      expectAnswer({ method: 'POST', path: '/v1/keys', key: MANAGEMENT_KEY, body: JSON.stringify(value) }),
    ),
    RUNS,
  )
})

test('PATCH /keys/{hash}', async () => {
  await fc.assert(
    fc.asyncProperty(body, (value) =>
      expectAnswer({
        method: 'PATCH',
        path: `/v1/keys/${hash}`,
        key: MANAGEMENT_KEY,
        body: JSON.stringify(value),
      }),
    ),
    RUNS,
  )
})

test('bodies that are not JSON', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), (bytes) =>
      expectAnswer({
        method: 'POST',
        path: '/v1/keys',
        key: MANAGEMENT_KEY,
        body: new Blob([new Uint8Array(bytes)]),
      }),
    ),
    RUNS,
  )
})

test('queries and paths', async () => {
  const names = [
    'offset',
    'limit',
    'include_disabled',
    'workspace_id',
    'id',
    'date',
    'api_key_hash',
    'user_id',
    'group_by',
  ]
  const encoded = fc.oneof(
    text.map(safelyEncoded),
    fc.constantFrom('%zz', '%', '%00', '%ff', '+', '1', 'true', '2026-01-01'),
  )
  const query = fc.array(fc.tuple(fc.constantFrom(...names), encoded), { maxLength: 4 })
  const paths = fc.oneof(
    fc.constantFrom('/v1/keys', '/v1/activity', '/v1/generation', '/v1/key', `/v1/keys/${'0'.repeat(64)}`),
    encoded.map((segment) => `/v1/keys/${segment}`),
    encoded.map((segment) => `/${segment}`),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('GET', 'DELETE', 'PUT', 'OPTIONS'),
      paths,
      query,
      fc.constantFrom(API_KEY, MANAGEMENT_KEY),
      (method, path, pairs, key) =>
        expectAnswer({ method, path: `${path}?${pairs.map((pair) => pair.join('=')).join('&')}`, key }),
    ),
    RUNS,
  )
})

test('prototypes are as they were', () => {
  expect(Object.keys(Object.prototype)).toEqual([])
})

/** Lone surrogates cannot be in an address. */
function safelyEncoded(value: string): string {
  return encodeURIComponent(value.toWellFormed())
}
