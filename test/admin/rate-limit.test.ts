import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import type { Handler } from '../../src/http/edge.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { call, expectEnvelope } from '../scenario.ts'

let gateway: Gateway
let handler: Handler
let now = Date.UTC(2026, 6, 15, 12)
beforeAll(async () => {
  gateway = await startGateway({ now: () => now, environment: { SLUICE_ADMIN_RATE_LIMIT: '20' } })
  handler = createApp(gateway.deps)
})
afterAll(() => gateway.stop())

const statuses = async (path: string, key: string, times: number): Promise<Record<number, number>> => {
  const counts: Record<number, number> = {}
  for (let time = 0; time < times; time++) {
    const reply = await call(handler, { path: `/v1${path}`, key })
    counts[reply.status] = (counts[reply.status] ?? 0) + 1
    if (reply.status !== 429) continue
    expectEnvelope(reply)
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
  }
  return counts
}

test('a key that calls administration too often waits; others and inference do not', async () => {
  now += 3_600_000
  expect(await statuses('/keys', MANAGEMENT_KEY, 25)).toEqual({ 200: 20, 429: 5 })
  expect(await statuses('/files', API_KEY, 5)).toEqual({ 200: 5 })
  const asked = await call(handler, {
    method: 'POST',
    path: '/v1/chat/completions',
    key: API_KEY,
    body: { model: 'sluice/demo', messages: [{ role: 'user', content: 'Hi' }] },
  })
  expect(asked.status).toBe(200)
  // The catalogue is not administration.
  expect(await statuses('/models/count', MANAGEMENT_KEY, 30)).toEqual({ 200: 30 })
  now += 3_000
  expect(await statuses('/keys', MANAGEMENT_KEY, 5)).toEqual({ 200: 1, 429: 4 })
})

test('wrong keys are 401, however often', async () => {
  expect(await statuses('/keys', 'nobody-has-this-key-0123456789abcdef', 60)).toEqual({ 401: 60 })
})
