import { expect, test } from 'bun:test'
import { hashKey } from '../../src/core/keys.ts'
import { API_KEY, startGateway } from '../gateway.ts'
import { spend } from './fixtures.ts'

const NOW = Date.UTC(2026, 6, 15, 12, 30)

/** Whatever tells what was used. A page that looked at rows would take longer with each of them. */
const pages: readonly [method: string, path: string, body?: object][] = [
  ['GET', '/activity'],
  ['GET', '/activity?group_by=workspace&date=2026-07-15'],
  ...['hour', 'day', 'week', 'month'].map((granularity): [string, string, object] => [
    'POST',
    '/analytics/query',
    { metrics: ['request_count', 'total_usage'], dimensions: ['model', 'api_key_hash'], granularity },
  ]),
  ['GET', '/analytics/meta'],
  ['GET', '/credits'],
  ['GET', '/keys'],
  ['GET', `/keys/${hashKey(API_KEY)}`],
  ['GET', '/workspaces'],
]

test('no page of usage reads the rows of generations: it answers the same where they cannot be read', async () => {
  const gateway = await startGateway({ now: () => NOW })
  await spend(gateway, hashKey(API_KEY), 1_234_567)
  const look = () =>
    Promise.all(
      pages.map(async ([method, path, body]) => {
        const reply = await gateway.manage(method, path, body)
        const text = (await reply.text()).replace(/"query_time_ms":\d+/, '')
        return [path, reply.status, text]
      }),
    )
  const before = await look()
  const own = await (await gateway.call('/key')).text()
  gateway.database.file.run('ALTER TABLE generations RENAME TO hidden')
  expect((await gateway.call('/generation?id=gen-1')).status).toBe(500)
  expect(await look()).toEqual(before)
  expect(await (await gateway.call('/key')).text()).toBe(own)
  expect(before.map(([, status]) => status)).toEqual(pages.map(() => 200))
  expect(before.filter(([, , text]) => String(text).includes('0.001234567')).length).toBe(9)
  gateway.database.file.run('ALTER TABLE hidden RENAME TO generations')
  await gateway.stop()
})
