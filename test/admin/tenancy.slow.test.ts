/**
 * Nothing leaks between workspaces: every operation with an identifier × the workspace of the named thing × every kind
 * of key. The reply for a foreign thing is that for a thing that does not exist: the same status and text.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { MANAGEMENT_KEY } from '../gateway.ts'
import { KEYS, type Key, keyOf, mayManage, placeOf, worded } from './tenancy/callers.ts'
import { notIdentifiers } from './tenancy/not-identifiers.ts'
import type { Row, State } from './tenancy/row.ts'
import { rows } from './tenancy/rows.ts'
import { things } from './tenancy/things.ts'
import type { Place, Received, Thing, World } from './tenancy/types.ts'
import { startWorld } from './tenancy/world.ts'

const STATES: readonly State[] = ['own', 'foreign', 'deleted', 'random']
let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.gateway.stop())

/** The things of each kind that requests name unless they delete them, created once. */
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
  // Callers name the workspaces of their keys.
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
  // A session cannot call models, and a member's cannot change anything.
  if (row.keys === 'inference' && (key === 'admin' || key === 'member')) return null
  if (key === 'member' && methodOf(row) !== 'GET') return null
  if (row.keys !== 'any' && row.keys !== (mayManage(key) ? 'management' : 'inference')) return null
  if (mayManage(key)) return (row.management ?? []).includes(state)
  return (key === 'member' ? 'own' : key) === state
}

const methodOf = (row: Row): string => row.operation.split(' ')[0]?.toUpperCase() ?? ''
async function askFor(row: Row, key: Key, id: string, place: Place): Promise<Received> {
  const asked = await row.ask(id, world, place)
  const reply = await world.ask(keyOf(world, key), { method: methodOf(row), ...asked })
  return { ...reply, text: worded(reply.text, id) }
}

/** The things of both workspaces as their owners read them. */
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

describe('a thing of another workspace is like one that does not exist', () => {
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
    const { status, text } = await askFor(row, key, id, placeOf(world, key))
    const isMisplaced = row.misplaced !== undefined && mayManage(key) && state === 'foreign'
    if (isMisplaced) expect({ key, state, status }).toEqual({ key, state, status: row.misplaced ?? 0 })
    else refusals.push({ state, status, text })
  }
  // Where the handler reads the body itself, a session counts as no key.
  const isSession = key === 'admin' || key === 'member'
  const isBare = isSession && row.keys === 'inference' && refusals[0]?.status === 401
  const status = isBare ? 401 : statusOfRefusal(row, key)
  // A list of a missing thing is empty; a thing that is created anyway has its own id.
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

/** Every place of an identifier in the API document. */
async function places(): Promise<[operation: string, at: string][]> {
  const reply = await world.handler(new Request('http://localhost/openapi.json'))
  const { paths } = objectOf(await reply.json())
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
        'to test/admin/tenancy/rows.ts, or the reason why no workspace owns it to not-identifiers.ts',
    )
  expect(advice).toEqual([])
  const operations = new Set(all.map(([operation]) => operation))
  expect(
    rows.filter(({ operation }) => !operations.has(operation)).map(({ operation }) => operation),
  ).toEqual([])
  expect(all.length).toBeGreaterThan(60)
})
