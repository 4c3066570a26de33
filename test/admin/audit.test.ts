import { afterAll, beforeAll, expect, test } from 'bun:test'
import { change } from '../../src/admin/change.ts'
import { createApp } from '../../src/app.ts'
import type { Actor } from '../../src/core/actor.ts'
import { auditLog, workspaces } from '../../src/db/tables.ts'
import type { Handler } from '../../src/http/edge.ts'
import { objectOf } from '../../src/http/json.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { call, type Reply, runScenarios } from '../scenario.ts'
import { addWorkspace, OTHER_WORKSPACE } from './fixtures.ts'

let now = Date.UTC(2026, 6, 15, 12)
let gateway: Gateway
let handler: Handler

beforeAll(async () => {
  gateway = await startGateway({ now: () => now })
  handler = createApp({ ...gateway.deps, addressOf: () => '203.0.113.7' })
  await addWorkspace(gateway)
})
afterAll(() => gateway.stop())

const manage = (method: string, path: string, body?: unknown): Promise<Reply> =>
  call(handler, {
    method,
    path: `/api/v1${path}`,
    key: MANAGEMENT_KEY,
    headers: { 'user-agent': 'audit-test/1' },
    body,
  })
const entries = async (query = ''): Promise<Record<string, unknown>[]> => {
  const { data } = objectOf((await manage('GET', `/audit-log?${query}`)).json)
  return Array.isArray(data) ? data.map(objectOf) : []
}

test('each change of a key is one entry: who, what, from where, before and after, and no secret', async () => {
  const made = await manage('POST', '/keys', { name: 'first', limit: 2.5 })
  const { key, data } = objectOf(made.json)
  const { hash, workspace_id } = objectOf(data)
  now += 1000
  await manage('PATCH', `/keys/${hash}`, { limit: null, name: 'renamed' })
  now += 1000
  await manage('DELETE', `/keys/${hash}`)

  const logged = await entries(`resource_id=${hash}`)
  const common = {
    actor: {
      type: 'key',
      id: expect.stringMatching(/^[0-9a-f]{64}$/),
      label: expect.stringContaining('...'),
    },
    resource: { type: 'key', id: hash },
    workspace_id,
    address: '203.0.113.7',
    user_agent: 'audit-test/1',
  }
  const settings = { name: 'renamed', limit: null, disabled: false }
  expect(logged).toMatchObject([
    {
      ...common,
      action: 'key.delete',
      before: settings,
      after: null,
      created_at: '2026-07-15T12:00:02.000Z',
    },
    {
      ...common,
      action: 'key.update',
      before: { name: 'first', limit: 2.5 },
      after: { name: 'renamed', limit: null },
    },
    { ...common, action: 'key.create', before: null, after: { name: 'first', limit: 2.5, workspace_id } },
  ])
  // An update names what changed and nothing else.
  expect(Object.keys(objectOf(logged[1]?.['after']))).toEqual(['name', 'limit'])
  expect(logged[2]?.['request_id']).toBe(made.headers.get('x-request-id'))
  expect(JSON.stringify(logged)).not.toContain(String(key))
})

test('a rejected change, or one without effect, leaves no entry', async () => {
  const before = (await entries()).length
  await manage('POST', '/keys', { name: '' })
  await manage('PATCH', `/keys/${'0'.repeat(64)}`, { name: 'nobody' })
  await manage('DELETE', `/keys/${'0'.repeat(64)}`)
  expect(await entries()).toHaveLength(before)
})

test('a change whose writes fail leaves neither the writes nor an entry', async () => {
  const actor: Actor = {
    type: 'system',
    id: 'test',
    label: 'Test',
    userId: 'user_1',
    requestId: null,
    address: null,
    userAgent: null,
  }
  const rows = () => gateway.database.sync.select().from(auditLog).all().length
  const names = () => gateway.database.sync.select({ name: workspaces.name }).from(workspaces).all()
  const before = { rows: rows(), names: names() }
  const failing = change(
    gateway.deps,
    actor,
    { action: 'workspace.update', resourceId: 'x', workspaceId: null, after: {} },
    (tx) => [
      tx.update(workspaces).set({ name: 'half done' }),
      tx.insert(workspaces).values({
        id: OTHER_WORKSPACE,
        organization_id: 'nobody',
        name: 'twin',
        slug: 'twin',
        default_guardrail_id: 'g',
        created_by: 'nobody',
      }),
    ],
  )
  await expect(failing).rejects.toThrow()
  expect({ rows: rows(), names: names() }).toEqual(before)
})

test('lists are paged, newest first, and filtered', async () => {
  for (const name of ['a', 'b', 'c']) {
    now += 1000
    await manage('POST', '/keys', { name })
  }
  const all = await entries('limit=100')
  const { total_count } = objectOf((await manage('GET', '/audit-log?limit=1')).json)
  expect(total_count).toBe(all.length)
  expect(await entries('limit=2&offset=1')).toEqual(all.slice(1, 3))
  const created = all.filter(({ action }) => action === 'key.create')
  expect(await entries('action=key.create')).toEqual(created)
  expect(await entries('resource_type=workspace')).toEqual([])
  expect(await entries(`workspace_id=${OTHER_WORKSPACE}`)).toEqual([])
  const last = String(all[0]?.['created_at'])
  expect(await entries(`from=${last}`)).toEqual([all[0] ?? {}])
  expect(await entries(`to=${last}`)).toEqual(all.slice(1))
})

test('the export has every entry, oldest first, as JSON lines and as CSV that no spreadsheet runs', async () => {
  const formula = '=HYPERLINK("http://x"),"a\nb"'
  await manage('POST', '/keys', { name: formula })
  const lines = (await manage('GET', '/audit-log/export')).text.trimEnd().split('\n')
  const all = await entries('limit=100')
  expect(lines.map((line) => objectOf(JSON.parse(line)))).toEqual(all.toReversed())

  const csv = await manage('GET', '/audit-log/export?format=csv&action=key.create')
  expect(csv.headers.get('content-type')).toStartWith('text/csv')
  expect(csv.headers.get('content-disposition')).toBe('attachment; filename="audit-log.csv"')
  expect(csv.text).toStartWith('id,created_at,workspace_id,actor_type,')
  expect(csv.text.split('\r\n')).toHaveLength(2 + all.filter(({ action }) => action === 'key.create').length)
})

runScenarios('who may read it', () => handler, [
  { name: 'without a key', path: '/api/v1/audit-log', status: 401 },
  {
    name: 'an inference key',
    path: '/api/v1/audit-log',
    key: API_KEY,
    status: 403,
    contains: ['management'],
  },
  { name: 'an export without a key', path: '/api/v1/audit-log/export', status: 401 },
  { name: 'an export with an inference key', path: '/api/v1/audit-log/export', key: API_KEY, status: 403 },
  {
    name: 'a bad instant',
    path: '/api/v1/audit-log?from=yesterday',
    key: MANAGEMENT_KEY,
    status: 400,
    contains: ['from', 'UTC'],
  },
  ...['from=2026-13-01T00:00:00Z', 'to=2026-02-30T00:00:00Z', 'from=2026-01-01T25:00:00Z'].flatMap((query) =>
    ['/api/v1/audit-log', '/api/v1/audit-log/export'].map((path) => ({
      name: `${path}?${query}`,
      path: `${path}?${query}`,
      key: MANAGEMENT_KEY,
      status: 400,
      contains: [`query parameter ${query.split('=')[0]}`],
    })),
  ),
  {
    name: 'a bad format',
    path: '/api/v1/audit-log/export?format=xml',
    key: MANAGEMENT_KEY,
    status: 400,
    contains: ['format'],
  },
])
