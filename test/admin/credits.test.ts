import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { hashKey } from '../../src/core/keys.ts'
import type { Handler } from '../../src/http/edge.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { call, type Reply, runScenarios, type Scenario } from '../scenario.ts'
import { addWorkspace, spend } from './fixtures.ts'

const PRICED = {
  slug: 'lab',
  base_url: 'http://127.0.0.1:1/v1',
  models: [{ id: 'tiny', pricing: { prompt: '0.001', completion: '0.001' } }],
}
let gateway: Gateway
let handler: Handler
let otherKey = ''

beforeAll(async () => {
  gateway = await startGateway({ providers: [PRICED] })
  handler = createApp(gateway.deps)
  otherKey = (await addWorkspace(gateway)).key
})
afterAll(() => gateway.stop())

const manage = (method: string, body?: unknown): Promise<Reply> =>
  call(handler, { method, path: '/api/v1/credits', key: MANAGEMENT_KEY, body })
const ask = (key: string, maxTokens: number): Promise<Reply> =>
  call(handler, {
    method: 'POST',
    path: '/api/v1/chat/completions',
    key,
    body: { model: 'tiny', max_tokens: maxTokens, messages: [{ role: 'user', content: 'hi' }] },
  })

const refused = (name: string, body: unknown, words: string): Scenario => ({
  name,
  method: 'PUT',
  path: '/v1/credits',
  key: MANAGEMENT_KEY,
  body,
  status: 400,
  contains: [words],
})
runScenarios('credits', () => handler, [
  { name: 'GET without a key', path: '/v1/credits', status: 401 },
  {
    name: 'GET with an inference key',
    path: '/v1/credits',
    key: API_KEY,
    status: 403,
    contains: ['management'],
  },
  {
    name: 'PUT with an inference key',
    method: 'PUT',
    path: '/v1/credits',
    key: API_KEY,
    body: '{',
    status: 403,
  },
  refused('an empty body', {}, 'total_credits'),
  refused('below nothing', { total_credits: -0.01 }, 'total_credits'),
  refused('more than can be counted', { total_credits: 9_007_200 }, 'total_credits'),
  refused('an unknown field', { total_credits: 1, total: 2 }, 'total'),
])

describe('the allowance', () => {
  test('is not set at first, and usage is that of all workspaces', async () => {
    await spend(gateway, hashKey(API_KEY), 1_500_000_000)
    await spend(gateway, hashKey(otherKey), 500_000_001)
    expect((await manage('GET')).json).toEqual({
      data: { total_credits: 9_007_199.254740991, total_usage: 2.000000001, is_unlimited: true },
    })
  })

  test('bounds every workspace by what all have spent, and is lifted again', async () => {
    expect((await manage('PUT', { total_credits: 2.5 })).json).toEqual({
      data: { total_credits: 2.5, total_usage: 2.000000001, is_unlimited: false },
    })
    for (const key of [API_KEY, otherKey]) {
      const reply = await ask(key, 1000)
      expect([reply.status, reply.text]).toEqual([
        402,
        expect.stringContaining('The allowance of the organization'),
      ])
      expect(reply.text).toContain('$2.000000001 is used')
    }
    // What fits is sent to the provider, which is not there.
    expect((await ask(API_KEY, 16)).status).toBe(502)
    await manage('PUT', { total_credits: 0 })
    expect((await ask(API_KEY, 16)).status).toBe(402)
    await manage('PUT', { total_credits: null })
    expect((await ask(API_KEY, 1000)).status).toBe(502)
    expect((await manage('GET')).json).toMatchObject({ data: { is_unlimited: true } })
  })

  test('is recorded in the audit log, once for each change', async () => {
    await manage('PUT', { total_credits: null })
    const log = await call(handler, { path: '/v1/audit-log?action=organization.update', key: MANAGEMENT_KEY })
    expect(log.json).toMatchObject({
      total_count: 3,
      data: [
        { before: { total_credits: 0 }, after: { total_credits: null } },
        { before: { total_credits: 2.5 }, after: { total_credits: 0 } },
        { before: { total_credits: null }, after: { total_credits: 2.5 } },
      ],
    })
  })
})
