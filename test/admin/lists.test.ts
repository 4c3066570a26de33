import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import type { Handler } from '../../src/http/edge.ts'
import { objectOf } from '../../src/http/json.ts'
import { type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { call, type Reply } from '../scenario.ts'

let now = Date.UTC(2026, 6, 15, 12)
let gateway: Gateway
let handler: Handler
let otherId = ''

const manage = (method: string, path: string, body?: unknown): Promise<Reply> =>
  call(handler, { method, path: `/api/v1${path}`, key: MANAGEMENT_KEY, body })
const page = async (path: string) => {
  const reply = await manage('GET', path)
  expect([reply.status, reply.text]).toEqual([200, expect.any(String)])
  const { data, total_count, next_cursor } = objectOf(reply.json)
  return { data: Array.isArray(data) ? data.map(objectOf) : [], total: total_count, next: next_cursor }
}
const made = async (path: string, body: object): Promise<Record<string, unknown>> => {
  now += 1000
  const reply = await manage('POST', path, body)
  expect([reply.status < 300, reply.text]).toEqual([true, expect.any(String)])
  return objectOf(objectOf(reply.json)['data'])
}

const cursorOf = (place: unknown): string => Buffer.from(JSON.stringify(place)).toString('base64url')

const NAMES = ['delta', 'Alpha', '50% off', 'charlie_1', 'bravo', 'alpha']

beforeAll(async () => {
  gateway = await startGateway({ now: () => now })
  handler = createApp(gateway.deps)
  otherId = String((await made('/workspaces', { name: 'Other', slug: 'other' }))['id'])
  for (const name of NAMES) {
    await made('/guardrails', { name })
    await made('/keys', { name })
    const [type, config] = ['webhook', { url: 'https://hooks.example.com/x' }]
    await made('/observability/destinations', { name, type, config })
    await made('/byok', { provider: 'openai', key: 'sk-0123456789abcdefghij', name })
  }
  await made('/guardrails', { name: 'theirs', workspace_id: otherId })
  for (const slug of ['one', 'two', 'three'])
    await made(`/presets/${slug}/chat/completions`, { temperature: 1 })
  for (const temperature of [0.1, 0.2]) await made('/presets/one/chat/completions', { temperature })
  for (const n of [1, 2, 3]) {
    await manage('POST', '/organization/invitations', { email: `guest${n}@example.com` })
    now += 1000
  }
})
afterAll(() => gateway.stop())

/** Every list with the kit, and how many it has at least. */
const LISTS: readonly (readonly [path: string, least: number])[] = [
  ['/guardrails', 7],
  ['/keys', 6],
  ['/byok', 6],
  ['/observability/destinations', 6],
  ['/workspaces', 2],
  ['/workspaces/default/members', 1],
  ['/presets', 3],
  ['/presets/one/versions', 3],
  ['/organization/members', 1],
  ['/organization/invitations', 3],
  ['/guardrails/assignments/keys', 0],
  ['/guardrails/assignments/members', 0],
  ['/audit-log', 20],
]

describe.each(LISTS)('GET %s', (path, least) => {
  test('refuses a parameter that it does not know, and names those that it knows', async () => {
    const reply = await manage('GET', `${path}?colour=red`)
    expect([reply.status, reply.text]).toEqual([
      400,
      expect.stringMatching(
        /query parameter colour: is not known here; known are .*cursor.*limit|limit.*cursor/,
      ),
    ])
  })

  test('gives every row once, in the same order, by cursor and by offset', async () => {
    const all = await page(`${path}?limit=100`)
    expect(all.data.length).toBeGreaterThanOrEqual(least)
    expect(all).toMatchObject({ total: all.data.length, next: null })
    const walked: object[] = []
    let cursor: unknown = ''
    while (cursor !== null) {
      const part = await page(`${path}?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
      expect(part.total).toBe(all.total)
      walked.push(...part.data)
      cursor = part.next
    }
    expect(walked).toEqual(all.data)
    expect((await page(`${path}?limit=2&offset=1`)).data).toEqual(all.data.slice(1, 3))
  })

  test('`-` before a sort reverses it', async () => {
    const { message } = objectOf(objectOf((await manage('GET', `${path}?sort=x`)).json)['error'])
    const sorts = String(message)
      .replace(/^.*must be one of /, '')
      .split(', ')
    expect(sorts.length).toBeGreaterThan(1)
    for (const sort of sorts.filter((name) => !name.startsWith('-'))) {
      const { data } = await page(`${path}?limit=100&sort=${sort}`)
      const { data: reversed } = await page(`${path}?limit=100&sort=-${sort}`)
      expect(reversed).toEqual(data.toReversed())
    }
  })

  test.each([cursorOf(['id', 'x', 1]), cursorOf(['-created_at', 'x', 'y']), cursorOf(['name', 1e300, 'y'])])(
    'a cursor of other types is no failure of the server (%s)',
    async (cursor) => expect((await manage('GET', `${path}?cursor=${cursor}`)).status).toBeLessThan(500),
  )

  test.each([
    ['a made-up cursor', 'cursor=abc', 'must be the next_cursor of a page'],
    [
      'a cursor that is JSON of something else',
      `cursor=${cursorOf({ a: 1 })}`,
      'must be the next_cursor of a page',
    ],
    ['a cursor of another sort', `cursor=${cursorOf(['x', 1, 'y'])}`, 'belongs to a list with another sort'],
    ['cursor and offset', `offset=1&cursor=${cursorOf(['x', 1, 'y'])}`, 'cannot be combined with offset'],
    ['a cursor that no URL needs', 'cursor=%F0%9F%98%80', 'must be the next_cursor of a page'],
    ['an empty search', 'q=', 'query parameter q'],
  ])('refuses %s', async (_, query, message) => {
    const reply = await manage('GET', `${path}?${query}`)
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining(message)])
  })
})

test.each([
  ['/providers/entries', 'none is allowed'],
  ['/providers/configured', 'none is allowed'],
  ['/endpoints/health', 'none is allowed'],
  ['/models/overrides', 'none is allowed'],
  ['/workspaces/default/budgets', 'none is allowed'],
  ['/providers/credentials', 'known are provider'],
  ['/files', 'known are workspace_id, limit, cursor'],
  ['/activity', 'known are date'],
])('GET %s refuses a parameter that it does not know', async (path, allowed) => {
  const reply = await manage('GET', `${path}?colour=red`)
  expect([reply.status, reply.text]).toEqual([
    400,
    expect.stringContaining(`query parameter colour: is not known here; ${allowed}`),
  ])
})

describe('a search', () => {
  const namesOf = async (path: string): Promise<unknown[]> => (await page(path)).data.map(({ name }) => name)

  test('ignores case, and has no wildcards', async () => {
    expect(await namesOf('/guardrails?q=ALPHA')).toEqual(['Alpha', 'alpha'])
    expect(await namesOf('/guardrails?q=%25')).toEqual(['50% off'])
    expect(await namesOf('/guardrails?q=_')).toEqual(['charlie_1'])
    expect(await namesOf('/guardrails?q=%5C')).toEqual([])
  })

  test('finds letters beyond ASCII', async () => {
    await made('/guardrails', { name: 'École', workspace_id: otherId })
    expect(await namesOf(`/guardrails?q=${encodeURIComponent('ÉCOLE')}&workspace_id=${otherId}`)).toEqual([
      'École',
    ])
  })

  test('is counted, and paged with a sort', async () => {
    const first = await page('/keys?q=alpha&limit=1&sort=name')
    expect(first).toMatchObject({ total: 2, data: [{ name: 'Alpha' }] })
    const second = await page(`/keys?q=alpha&limit=1&sort=name&cursor=${first.next}`)
    expect(second).toMatchObject({ total: 2, data: [{ name: 'alpha' }], next: null })
  })

  test('finds nothing of another workspace, and neither does its cursor', async () => {
    expect(await namesOf('/guardrails?q=theirs')).toEqual([])
    expect(await namesOf(`/guardrails?q=theirs&workspace_id=${otherId}`)).toEqual(['theirs'])
    const { next } = await page(`/guardrails?workspace_id=${otherId}&limit=1`)
    const rows = (await page(`/guardrails?cursor=${next}&limit=100`)).data
    expect(rows.filter((row) => row['workspace_id'] === otherId)).toEqual([])
  })
})

test('a page that ends at the longest name has a next one', async () => {
  for (const first of ['a', 'b'])
    await made('/keys', { name: `${first}${'\u0001'.repeat(999)}`, workspace_id: otherId })
  const query = `workspace_id=${otherId}&sort=name&limit=1`
  const { next } = await page(`/keys?${query}`)
  expect(await page(`/keys?${query}&cursor=${next}`)).toMatchObject({ total: 2, next: null })
})

test('rows that are added or deleted between two pages neither repeat nor hide others', async () => {
  const first = await page('/observability/destinations?limit=3&sort=name')
  await manage('DELETE', `/observability/destinations/${first.data[0]?.['id']}`)
  await made('/observability/destinations', {
    name: '0 first',
    type: 'webhook',
    config: { url: 'https://hooks.example.com/y' },
  })
  const second = await page(`/observability/destinations?limit=100&sort=name&cursor=${first.next}`)
  const seen = [...first.data, ...second.data].map(({ name }) => name)
  expect(seen).toEqual(NAMES.toSorted())
})
