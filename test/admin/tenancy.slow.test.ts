/**
 * Nothing leaks between workspaces: every operation with an identifier × whose thing it names × every kind of key.
 * What is of others answers as what never was: the same status and the same words.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { objectOf } from '../../src/http/json.ts'
import { MANAGEMENT_KEY } from '../gateway.ts'
import type { Browser } from './people.ts'
import { notIdentifiers } from './tenancy/not-identifiers.ts'
import { type Row, rows, type State } from './tenancy/rows.ts'
import { type Place, startWorld, type Thing, type Told, things, type World } from './tenancy/world.ts'

const STATES: readonly State[] = ['own', 'foreign', 'deleted', 'random']
/** Keys, and sessions: of an administrator, and of somebody who is a member of the own workspace alone. */
type Key = 'none' | 'disabled' | 'own' | 'foreign' | 'management' | 'admin' | 'member'
const KEYS: readonly Key[] = ['none', 'disabled', 'own', 'foreign', 'management', 'admin', 'member']
const mayManage = (key: Key): boolean => key === 'management' || key === 'admin'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.gateway.stop())

const keyOf = (key: Key): string | Browser | null =>
  ({
    none: null,
    disabled: world.disabledKey,
    own: world.own.key,
    foreign: world.foreign.key,
    management: MANAGEMENT_KEY,
    admin: world.admin,
    member: world.member,
  })[key]

/** What calls name that take nothing away: made once for each kind of thing. */
const named = new Map<Thing, Promise<Ids>>()
type Ids = Partial<Record<State, string>>
function idsOf(thing: Thing): Promise<Ids> {
  const known = named.get(thing)
  if (known !== undefined) return known
  const making = makeEach(thing)
  named.set(thing, making)
  return making
}
async function makeEach(thing: Thing): Promise<Ids> {
  // The callers' own workspaces are what they may name.
  const isWorkspace = thing === things.workspace
  const ids: Ids = {
    own: isWorkspace ? world.own.id : await thing.make(world, world.own),
    foreign: isWorkspace ? world.foreign.id : await thing.make(world, world.foreign),
    random: thing.random(),
  }
  if (thing.remove === undefined) return ids
  const deleted = await thing.make(world, world.own)
  await thing.remove(world, deleted, world.own)
  return { ...ids, deleted }
}

/** Whether the thing is found; null: this kind of key may not call the operation at all. */
function finds(row: Row, key: Key, state: State): boolean | null {
  if (key === 'none' || key === 'disabled') return null
  // A session infers nothing, and a member's changes nothing.
  if (row.keys === 'inference' && (key === 'admin' || key === 'member')) return null
  if (key === 'member' && methodOf(row) !== 'GET') return null
  if (row.keys !== 'any' && row.keys !== (mayManage(key) ? 'management' : 'inference')) return null
  if (mayManage(key)) return (row.management ?? []).includes(state)
  return (key === 'member' ? 'own' : key) === state
}

const placeOf = (key: Key): Place => (key === 'foreign' ? world.foreign : world.own)
const methodOf = (row: Row): string => row.operation.split(' ')[0]?.toUpperCase() ?? ''
/** What differs between two answers of the same words. */
const worded = (text: string, id: string): string =>
  text.replaceAll(id, '‹id›').replace(/"request_id":"req-[0-9a-f]{32}"/, '')

async function askFor(row: Row, key: Key, id: string, place: Place): Promise<Told> {
  const asked = await row.ask(id, world, place)
  const told = await world.ask(keyOf(key), { method: methodOf(row), ...asked })
  return { ...told, text: worded(told.text, id) }
}

/** What the things of both workspaces look like to their owners. */
async function lookOf(thing: Thing, ids: Ids): Promise<unknown[]> {
  const looks = (['own', 'foreign'] as const).map(async (state) => {
    const place = world[state]
    const at = thing.readAt?.(ids[state] ?? '', place)
    if (at === undefined) return null
    const key = at.with === 'management' ? MANAGEMENT_KEY : place.key
    const { status, text } = await world.ask(key, { method: 'GET', path: at.path })
    return { status, text }
  })
  return await Promise.all(looks)
}

describe('a thing of others is as one that never was', () => {
  for (const row of rows) {
    test(`${row.operation}: ${row.at}`, async () => {
      const ids = await idsOf(row.thing)
      const before = await lookOf(row.thing, ids)
      for (const key of KEYS) await expectRefusals(row, key, ids)
      expect(await lookOf(row.thing, ids)).toEqual(before)
      let found = 0
      for (const key of KEYS) {
        for (const state of STATES)
          if (finds(row, key, state)) found += await expectFound(row, key, state, ids)
      }
      expect(found).toBeGreaterThan(0)
    })
  }
})

async function expectRefusals(row: Row, key: Key, ids: Ids): Promise<void> {
  const refusals: { state: State; status: number; text: string }[] = []
  for (const state of STATES) {
    const id = ids[state]
    if (id === undefined || finds(row, key, state) === true) continue
    const { status, text } = await askFor(row, key, id, placeOf(key))
    const isMisplaced = row.misplaced !== undefined && mayManage(key) && state === 'foreign'
    if (isMisplaced) expect({ key, state, status }).toEqual({ key, state, status: row.misplaced ?? 0 })
    else refusals.push({ state, status, text })
  }
  // Where the body is read by hand, a session is no key at all.
  const isSession = key === 'admin' || key === 'member'
  const isBare = isSession && row.keys === 'inference' && refusals[0]?.status === 401
  const status = isBare ? 401 : statusOfRefusal(row, key)
  // A list of what is not there is empty; what is made all the same has an id of its own.
  const text = status === 200 && methodOf(row) !== 'GET' ? expect.any(String) : refusals[0]?.text
  expect({ key, refusals }).toEqual({ key, refusals: refusals.map(({ state }) => ({ state, status, text })) })
}

function statusOfRefusal(row: Row, key: Key): number {
  if (key === 'none' || key === 'disabled') return 401
  if (finds(row, key, 'own') === null) return 403
  return row.missing ?? 404
}

async function expectFound(row: Row, key: Key, state: State, ids: Ids): Promise<number> {
  const shared = ids[state]
  if (shared === undefined) return 0
  const place = state === 'foreign' ? world.foreign : world.own
  const isUsedUp = methodOf(row) === 'DELETE' && row.at.startsWith('path')
  const id = isUsedUp ? await row.thing.make(world, place) : shared
  const { status, text } = await askFor(row, key, id, place)
  const expected = row.found ?? (status === 201 ? 201 : 200)
  expect({ key, state, status, text }).toEqual({ key, state, status: expected, text: expect.any(String) })
  return 1
}

/** Every place of the API document where an identifier stands. */
async function places(): Promise<[operation: string, at: string][]> {
  const told = await world.handler(new Request('http://localhost/openapi.json'))
  const { paths } = objectOf(await told.json())
  return Object.entries(objectOf(paths)).flatMap(([path, methods]) =>
    Object.entries(objectOf(methods)).flatMap(([method, value]) =>
      placesOf(objectOf(value)).map((at): [string, string] => [`${method} ${path}`, at]),
    ),
  )
}
function placesOf({ parameters, requestBody }: Record<string, unknown>): string[] {
  const listed = Array.isArray(parameters) ? parameters.map(objectOf) : []
  const json = objectOf(objectOf(objectOf(requestBody)['content'])['application/json'])
  return [
    ...listed.filter((each) => each['in'] === 'path').map(({ name }) => `path ${name}`),
    ...listed
      .filter((each) => each['in'] === 'query' && LOOKS_LIKE_ONE.test(String(each['name'])))
      .map(({ name }) => `query ${name}`),
    ...Object.keys(objectOf(objectOf(json['schema'])['properties']))
      .filter((name) => LOOKS_LIKE_ONE.test(name))
      .map((name) => `body ${name}`),
  ]
}
/** `starting_after` counts events. */
const LOOKS_LIKE_ONE = /^(?!starting_after$)(?:.*_)?(?:ids?|hash|hashes|slug|cursor|after|ref)$/

test('every operation with an identifier has a row', async () => {
  const all = await places()
  const isCovered = (operation: string, at: string): boolean =>
    rows.some((row) => row.operation === operation && row.at === at) ||
    notIdentifiers.some(([which, where]) => which.test(operation) && where.test(at))
  const advice = all
    .filter(([operation, at]) => !isCovered(operation, at))
    .map(
      ([operation, at]) =>
        `"${operation}" takes an identifier (${at}) and has no row: add row('${operation}', '${at}', things.…, …) ` +
        'to test/admin/tenancy/rows.ts, or the reason why nobody owns it to not-identifiers.ts',
    )
  expect(advice).toEqual([])
  const operations = new Set(all.map(([operation]) => operation))
  expect(
    rows.filter(({ operation }) => !operations.has(operation)).map(({ operation }) => operation),
  ).toEqual([])
  expect(all.length).toBeGreaterThan(60)
})

/** What an operation without an identifier tells of the whole organisation, and to whom. */
const ofTheOrganisation: readonly (readonly [operation: string, why: string])[] = [
  ['get /workspaces', 'a management key administers all of them'],
  ['get /guardrails/assignments/keys', 'of all guardrails of the organisation'],
  ['get /guardrails/assignments/members', 'of all guardrails of the organisation'],
  ['get /organization/members', 'of the organisation: people are in several workspaces'],
  ['get /organization/invitations', 'of the organisation'],
  ['get /activity', 'of the organisation, unless a workspace is named'],
  ['get /audit-log', 'of the organisation, unless a workspace is named'],
  ['get /audit-log/export', 'of the organisation, unless a workspace is named'],
]

const OF_NO_WORKSPACE: ReadonlySet<Thing> = new Set([
  things.workspace,
  things.override,
  things.provider,
  things.credential,
])

/** What each list of the document tells the holder of a key: without a filter, and for the own workspace. */
async function told(key: Key): Promise<Map<string, string>> {
  const lists = new Map<string, string>()
  for (const [operation, parameters] of await readOperations()) {
    const path = operation.slice('get '.length)
    const isWide = mayManage(key) && ofTheOrganisation.some(([each]) => each === operation)
    const filtered = `${path}?workspace_id=${placeOf(key).id}`
    for (const asked of [
      ...(isWide ? [] : [path]),
      ...(parameters.includes('workspace_id') ? [filtered] : []),
    ]) {
      const { status, text } = await world.ask(keyOf(key), { method: 'GET', path: asked })
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

describe('lists and totals never widen', () => {
  test.each(['own', 'management'] as const)(
    'for the caller %s, whatever is made in another workspace',
    async (key) => {
      const before = await told(key)
      expect(before.size).toBeGreaterThan(12)
      for (const thing of Object.values(things)) {
        if (OF_NO_WORKSPACE.has(thing)) continue
        const id = await thing.make(world, world.foreign)
        if (thing === things.key) await assign(id)
      }
      await things.workspace.make(world, world.foreign)
      const after = await told(key)
      for (const [asked, text] of before) expect({ asked, text: after.get(asked) }).toEqual({ asked, text })
    },
  )

  async function assign(hash: string): Promise<void> {
    const guardrail = await things.guardrail.make(world, world.foreign)
    await world.manage('POST', `/guardrails/${guardrail}/assignments/keys`, { key_hashes: [hash] })
  }

  test('a filter by another workspace shows an inference key nothing', async () => {
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

  test('a place in the list of another workspace leads to nothing of it', async () => {
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

  test('a key that is deleted leaves the lists and totals of its guardrail', async () => {
    const hash = await things.key.make(world, world.own)
    const guardrail = await things.guardrail.make(world, world.own)
    const path = `/guardrails/${guardrail}/assignments/keys`
    await world.manage('POST', path, { key_hashes: [hash] })
    expect(await world.manage('GET', path)).toMatchObject({ total_count: 1, next_cursor: null })
    await world.manage('DELETE', `/keys/${hash}`)
    expect(await world.manage('GET', path)).toEqual({ data: [], total_count: 0, next_cursor: null })
  })
})

test('what a deleted workspace held is as what never was', async () => {
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

test("another person's session is as one that never was", async () => {
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

test('a session speaks of the workspaces of its person alone, whatever header it sends', async () => {
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

test('somebody who left the organisation leaves the lists and totals of guardrails and workspaces', async () => {
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
