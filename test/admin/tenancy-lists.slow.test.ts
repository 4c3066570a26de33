/** Lists, totals and sessions never show a thing of another workspace, of a deleted one or of a person who left. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { objectOf } from '../../src/http/json.ts'
import { MANAGEMENT_KEY } from '../gateway.ts'
import type { Browser } from './people.ts'
import { type Key, keyOf, mayManage, placeOf, worded } from './tenancy/callers.ts'
import { things } from './tenancy/things.ts'
import type { Place, Thing, World } from './tenancy/types.ts'
import { startWorld } from './tenancy/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
  // Statistics of endpoints count the requests of every workspace, and are there after the first.
  for (const thing of [things.generation, things.response]) await thing.make(world, world.own)
})
afterAll(() => world.gateway.stop())

/** Operations without an identifier that list the organisation to management keys, with the reason. */
const ofTheOrganisation: readonly (readonly [operation: string, why: string])[] = [
  ['get /workspaces', 'a management key administers all of them'],
  ['get /guardrails/assignments/keys', 'assignments of all guardrails of the organisation'],
  ['get /guardrails/assignments/members', 'assignments of all guardrails of the organisation'],
  ['get /organization/members', 'members belong to the organisation: a person can be in several workspaces'],
  ['get /organization/invitations', 'invitations belong to the organisation'],
  ['get /activity', 'covers the organisation unless the request names a workspace'],
  ['get /audit-log', 'covers the organisation unless the request names a workspace'],
  ['get /audit-log/export', 'covers the organisation unless the request names a workspace'],
]

const OF_NO_WORKSPACE: ReadonlySet<Thing> = new Set([
  things.workspace,
  things.override,
  things.provider,
  things.credential,
])

/** Each list of the API document as a key gets it: without a filter, and for the own workspace. */
async function listsOf(key: Key): Promise<Map<string, string>> {
  const lists = new Map<string, string>()
  for (const [operation, parameters] of await readOperations()) {
    const path = operation.slice('get '.length)
    const isWide = mayManage(key) && ofTheOrganisation.some(([each]) => each === operation)
    const filtered = `${path}?workspace_id=${placeOf(world, key).id}`
    for (const asked of [
      ...(isWide ? [] : [path]),
      ...(parameters.includes('workspace_id') ? [filtered] : []),
    ]) {
      const { status, text } = await world.ask(keyOf(world, key), { method: 'GET', path: asked })
      lists.set(asked, `${status} ${text}`)
    }
  }
  return lists
}
async function readOperations(): Promise<[operation: string, parameters: unknown[]][]> {
  const { paths } = objectOf(await (await world.handler(new Request('http://localhost/openapi.json'))).json())
  return Object.entries(objectOf(paths)).flatMap(([path, methods]): [string, unknown[]][] => {
    const { parameters } = objectOf(objectOf(methods)['get'])
    if (!Array.isArray(parameters) || path.includes('{')) return []
    return [[`get ${path}`, parameters.map((each) => objectOf(each)['name'])]]
  })
}

describe('lists and totals', () => {
  test.each(['own', 'management'] as const)(
    'for the caller %s do not change when things are created in another workspace',
    async (key) => {
      const before = await listsOf(key)
      expect(before.size).toBeGreaterThan(12)
      for (const thing of Object.values(things)) {
        if (OF_NO_WORKSPACE.has(thing)) continue
        const id = await thing.make(world, world.foreign)
        if (thing === things.key) await assign(id)
      }
      await things.workspace.make(world, world.foreign)
      const after = await listsOf(key)
      for (const [asked, text] of before) expect({ asked, text: after.get(asked) }).toEqual({ asked, text })
    },
  )

  async function assign(hash: string): Promise<void> {
    const guardrail = await things.guardrail.make(world, world.foreign)
    await world.manage('POST', `/guardrails/${guardrail}/assignments/keys`, { key_hashes: [hash] })
  }

  test('with a filter by another workspace are refused to an inference key', async () => {
    for (const [operation, parameters] of await readOperations()) {
      if (!parameters.includes('workspace_id')) continue
      const path = operation.slice('get '.length)
      const ask = (id: string) =>
        world.ask(world.own.key, { method: 'GET', path: `${path}?workspace_id=${id}` })
      const [foreign, random] = [await ask(world.foreign.id), await ask(things.workspace.random())]
      expect({ operation, status: foreign.status, text: foreign.text }).toEqual({
        operation,
        status: random.status,
        text: random.text,
      })
      expect(foreign.status).toBeOneOf([403, 404])
    }
  })

  test('show nothing of another workspace to a cursor from its list', async () => {
    for (const place of [world.foreign, world.foreign, world.own]) await things.file.make(world, place)
    const pageOf = async (place: Place, cursor?: unknown): Promise<Record<string, unknown>> => {
      const path = `/files?limit=1${cursor === undefined ? '' : `&cursor=${cursor}`}`
      return (await world.ask(place.key, { method: 'GET', path })).json
    }
    const { cursor } = await pageOf(world.foreign)
    expect(cursor).toEqual(expect.any(String))
    const foreignIds = JSON.stringify(await world.manage('GET', `/files?workspace_id=${world.foreign.id}`))
    const page = await pageOf(world.own, cursor)
    for (const file of Array.isArray(page['data']) ? page['data'] : []) {
      expect(foreignIds).not.toContain(String(objectOf(file)['id']))
    }
  })

  test('of a guardrail no longer have a deleted key', async () => {
    const hash = await things.key.make(world, world.own)
    const guardrail = await things.guardrail.make(world, world.own)
    const path = `/guardrails/${guardrail}/assignments/keys`
    await world.manage('POST', path, { key_hashes: [hash] })
    expect(await world.manage('GET', path)).toMatchObject({ total_count: 1, next_cursor: null })
    await world.manage('DELETE', `/keys/${hash}`)
    expect(await world.manage('GET', path)).toEqual({ data: [], total_count: 0, next_cursor: null })
  })
})

test('things of a deleted workspace are like things that never existed', async () => {
  const id = await things.workspace.make(world, world.own)
  const { key, data } = await world.manage('POST', '/keys', { name: 'held', workspace_id: id })
  const file = await things.file.make(world, { id, key: String(key) })
  const kept = join(world.gateway.folder, 'files', file)
  expect(existsSync(kept)).toBe(true)
  await world.manage('PATCH', `/keys/${objectOf(data)['hash']}`, { disabled: true })
  const gone = { id, key: '' }
  const held: [Thing, string][] = []
  for (const thing of [things.key, things.guardrail, things.preset, things.byok, things.destination]) {
    held.push([thing, await thing.make(world, gone)])
  }
  for (const [thing, hash] of held) {
    if (thing === things.key) await world.manage('PATCH', `/keys/${hash}`, { disabled: true })
  }
  await world.manage('DELETE', `/workspaces/${id}`)
  expect(existsSync(kept)).toBe(false)
  for (const [thing, each] of held) {
    const read = async (asked: string) => {
      const path = thing.readAt?.(asked, gone).path ?? ''
      const { status, text } = await world.ask(MANAGEMENT_KEY, { method: 'GET', path })
      return { status, text: worded(text, asked) }
    }
    expect(await read(each)).toEqual(await read(thing.random()))
    expect((await read(each)).status).toBe(404)
  }
})

test("another person's session is like one that does not exist", async () => {
  const sessions = await world.ask(world.admin, { method: 'GET', path: '/auth/sessions' })
  const [session] = Array.isArray(sessions.json['data']) ? sessions.json['data'] : []
  const end = async (id: string) => {
    const { status, text } = await world.ask(world.member, { method: 'DELETE', path: `/auth/sessions/${id}` })
    return { status, text: worded(text, id) }
  }
  const id = String(objectOf(session)['id'])
  expect(await end(id)).toEqual(await end(id.replace(/./g, (each) => (each === 'a' ? 'b' : 'a'))))
  expect((await end(id)).status).toBe(404)
  expect((await world.ask(world.admin, { method: 'GET', path: '/auth/session' })).status).toBe(200)
})

test('a session sees only the workspaces of its person, with any header', async () => {
  const gone = await things.workspace.make(world, world.own)
  await things.workspace.remove(world, gone)
  const read = async (browser: Browser, id: string): Promise<{ status: number; text: string }> => {
    const headers = { 'x-workspace-id': id }
    const { status, text } = await browser.ask({ path: '/api/v1/presets', headers })
    return { status, text }
  }
  const missing = await read(world.member, things.workspace.random())
  expect(missing.status).toBe(404)
  expect(await read(world.member, gone)).toEqual(missing)
  expect(await read(world.member, world.foreign.id)).toEqual(missing)
  expect((await read(world.member, world.own.id)).status).toBe(200)
  expect((await read(world.admin, world.foreign.id)).status).toBe(200)
  expect(await read(world.admin, gone)).toEqual(missing)
})

test('a removed member is no longer in the lists and totals of guardrails and workspaces', async () => {
  const id = await things.member.make(world, world.foreign)
  const guardrail = await things.guardrail.make(world, world.foreign)
  await world.manage('POST', `/guardrails/${guardrail}/assignments/members`, { member_user_ids: [id] })
  const lists = [
    `/guardrails/${guardrail}/assignments/members`,
    `/workspaces/${world.foreign.id}/members?limit=100`,
    '/organization/members?limit=100',
  ]
  const all = async () => await Promise.all(lists.map((path) => world.manage('GET', path)))
  const before = await all()
  for (const list of before) expect(JSON.stringify(list)).toContain(id)
  await world.manage('DELETE', `/organization/members/${id}`)
  for (const [index, list] of (await all()).entries()) {
    expect(JSON.stringify(list)).not.toContain(id)
    expect(list['total_count']).toBe(Number(before[index]?.['total_count']) - 1)
  }
})
