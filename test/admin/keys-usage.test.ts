import { describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { call } from '../scenario.ts'
import { administration } from './administration.ts'
import { spend } from './fixtures.ts'
import { makeKey, readKey } from './keys.ts'

/** A Wednesday. */
const NOW = Date.UTC(2026, 6, 15, 12)
const DAY = 86_400_000
let now = NOW
const admin = administration({ now: () => now })
const { manage } = admin

describe('usage', () => {
  test('is summed by day, week and month, and a limit counts in its own window', async () => {
    const { key, hash } = await makeKey(admin, { limit: 1, limit_reset: 'weekly' })
    await spend(admin.gateway, hash, 100_000_001, { startedAt: Date.UTC(2026, 6, 15, 0) })
    await spend(admin.gateway, hash, 20_000_000, { startedAt: Date.UTC(2026, 6, 13, 0) })
    await spend(admin.gateway, hash, 3_000_000, { startedAt: Date.UTC(2026, 6, 12, 23, 59, 59, 999) })
    await spend(admin.gateway, hash, 400_000, { startedAt: Date.UTC(2026, 5, 30) })
    const expected = {
      usage: 0.123400001,
      usage_daily: 0.100000001,
      usage_weekly: 0.120000001,
      usage_monthly: 0.123000001,
      limit: 1,
      limit_remaining: 0.879999999,
      byok_usage: 0,
      byok_usage_daily: 0,
      byok_usage_weekly: 0,
      byok_usage_monthly: 0,
    }
    expect(await readKey(admin, hash)).toMatchObject(expected)
    expect((await call(admin.handler, { path: '/v1/key', key })).json).toMatchObject({ data: expected })
    now = NOW + 5 * DAY
    expect(await readKey(admin, hash)).toMatchObject({
      usage_daily: 0,
      usage_weekly: 0,
      usage_monthly: 0.123000001,
      limit_remaining: 1,
    })
    now = NOW
  })

  const resets: [reset: string | null, remaining: number][] = [
    ['daily', 9],
    ['weekly', 9],
    ['monthly', 9],
    [null, 7],
  ]
  for (const [reset, remaining] of resets) {
    test(`limit_reset ${reset}: limit_remaining`, async () => {
      const { hash } = await makeKey(admin, { limit: 10, limit_reset: reset })
      await spend(admin.gateway, hash, 1_000_000_000)
      await spend(admin.gateway, hash, 2_000_000_000, { startedAt: Date.UTC(2026, 5, 1) })
      expect((await readKey(admin, hash))['limit_remaining']).toBe(remaining)
    })
  }

  test('BYOK usage counts toward the limit only if the key includes it', async () => {
    const { hash } = await makeKey(admin, { limit: 10 })
    await spend(admin.gateway, hash, 1_000_000_000)
    await spend(admin.gateway, hash, 2_000_000_000, { isByok: true })
    expect(await readKey(admin, hash)).toMatchObject({
      usage: 1,
      byok_usage: 2,
      byok_usage_daily: 2,
      limit_remaining: 9,
    })
    await manage('PATCH', `/keys/${hash}`, { include_byok_in_limit: true })
    expect(await readKey(admin, hash)).toMatchObject({ limit_remaining: 7 })
  })

  test('a limit lowered below the usage leaves a limit_remaining of 0', async () => {
    const { hash } = await makeKey(admin, { limit: 10 })
    await spend(admin.gateway, hash, 3_000_000_000)
    await manage('PATCH', `/keys/${hash}`, { limit: 2 })
    expect(await readKey(admin, hash)).toMatchObject({ limit: 2, limit_remaining: 0, usage: 3 })
  })
})

test('rate limits are set, shown with every field, changed, written to the audit log, and removed', async () => {
  const models = [{ model: 'lab/tiny', tokens_per_minute: 500 }]
  const { hash, data } = await makeKey(admin, { rate_limits: { requests_per_minute: 10, models } })
  const complete = {
    requests_per_minute: 10,
    tokens_per_minute: null,
    concurrent_requests: null,
    models: [{ model: 'lab/tiny', requests_per_minute: null, tokens_per_minute: 500 }],
  }
  expect(data['rate_limits']).toEqual(complete)
  const change = async (rate_limits: unknown) => {
    await manage('PATCH', `/keys/${hash}`, { rate_limits })
    return (await readKey(admin, hash))['rate_limits']
  }
  const shown = { ...complete, concurrent_requests: 3 }
  expect(await change(shown)).toEqual(shown)
  await manage('PATCH', `/keys/${hash}`, { name: 'other' })
  expect((await readKey(admin, hash))['rate_limits']).toEqual(shown)
  expect(await change({ requests_per_minute: null, models: [] })).toBeNull()
  expect(await change(shown)).toEqual(shown)
  expect(await change(null)).toBeNull()
  expect((await makeKey(admin, {}))['data']['rate_limits']).toBeNull()
  const log = objectOf((await manage('GET', `/audit-log?resource_id=${hash}`)).json)['data']
  const logged = Array.isArray(log)
    ? log.map((entry) => objectOf(objectOf(entry)['after'])['rate_limits'])
    : []
  expect(logged).toEqual([null, shown, null, undefined, shown, complete])
})
