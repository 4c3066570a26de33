import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Swept, startSweeping, sweep } from '../../src/bodies/sweep.ts'
import { RESPONSE_STATUSES, type ResponseStatus } from '../../src/core/response-status.ts'
import { DAY_MS, response, START, type Store, startStore, turnOf } from './fixture.ts'

let started: Store
beforeEach(() => {
  started = startStore()
})
afterEach(() => started.stop())

const CANARY = 'canary-7f3a-purple-marmot'
/** All that lies on the disk: the file, its log, and whatever else was put beside them. */
const onDisk = (): Buffer =>
  Buffer.concat(readdirSync(started.folder).map((name) => readFileSync(join(started.folder, name))))
const found = async (id: string, workspaceId = 'workspace-a') => started.store.find(id, workspaceId)

const sizes: [what: string, text: string][] = [
  ['a short text', CANARY],
  ['a text that is compressed', `${CANARY} `.repeat(200)],
  ['a text that is compressed off the thread', `${CANARY} ${'ünïcode 🔑 '.repeat(20_000)}`],
  [
    'noise that does not compress',
    `${CANARY}${Buffer.from(crypto.getRandomValues(new Uint8Array(3_000))).toString('base64')}`,
  ],
]
test.each(sizes)('%s is given back as it was, and is nowhere in clear', async (_, text) => {
  const kept = response('01')
  await started.store.keep(kept, { ...turnOf(text), itemIds: ['msg_1'] })
  expect(await found(kept.id)).toEqual(kept)
  const { reply, input, clearBytes } = await started.store.open(kept)
  expect({ reply, input }).toEqual({ reply: turnOf(text).reply, input: turnOf(text).input })
  expect(clearBytes).toBe(Buffer.byteLength(JSON.stringify(reply)) + Buffer.byteLength(JSON.stringify(input)))
  expect(onDisk().includes(CANARY)).toBe(false)
  expect(onDisk().includes(kept.id)).toBe(true)
})

test('a long text takes less room than it has', async () => {
  await started.store.keep(response('01'), turnOf('again and '.repeat(20_000)))
  const rows = started.bodies.file
    .query<{ clear_bytes: number; sealed: number }, []>(
      'SELECT clear_bytes, length(sealed) AS sealed FROM response_parts',
    )
    .all()
  expect(rows).toHaveLength(2)
  for (const row of rows) expect(row.sealed).toBeLessThan(row.clear_bytes / 20)
})

test('another workspace knows nothing of it', async () => {
  const kept = response('01')
  await started.store.keep(kept, { ...turnOf('x'), itemIds: ['msg_1'] })
  expect(await found(kept.id, 'workspace-b')).toBeNull()
  expect(await started.store.withItem('msg_1', 'workspace-b')).toEqual([])
  expect(await started.store.remove(kept.id, 'workspace-b')).toBe(false)
  expect(await found(kept.id)).not.toBeNull()
})

test('what is moved to another row, workspace or part is not opened', async () => {
  const [one, two] = [response('01'), response('02', { workspaceId: 'workspace-b' })]
  await started.store.keep(one, turnOf('one'))
  await started.store.keep(two, turnOf('two'))
  await expect(started.store.open({ ...one, workspaceId: 'workspace-b' })).rejects.toThrow(
    'belongs elsewhere',
  )
  started.bodies.file.run(
    "UPDATE response_parts SET sealed = (SELECT sealed FROM response_parts WHERE response_id = 'resp_01' AND part = 'input') WHERE response_id = 'resp_01' AND part = 'reply'",
  )
  await expect(started.store.open(one)).rejects.toThrow('belongs elsewhere')
})

test('another secret key is named by its id, and opens nothing', async () => {
  const kept = response('01')
  await started.store.keep(kept, turnOf(CANARY))
  const opening = started.withKey(2).open(kept)
  await expect(opening).rejects.toThrow(/was made with secret key [0-9a-f]{8}; this one is [0-9a-f]{8}/)
  await expect(opening).rejects.not.toThrow(CANARY)
})

describe('a status', () => {
  const all = RESPONSE_STATUSES.flatMap((from) => RESPONSE_STATUSES.map((to) => [from, to] as const))
  const isAllowed = (from: ResponseStatus, to: ResponseStatus): boolean =>
    (from === 'queued' && ['in_progress', 'failed', 'cancelled'].includes(to)) ||
    (from === 'in_progress' && ['completed', 'incomplete', 'failed', 'cancelled'].includes(to))

  test.each(all)('%s → %s is written only where the table allows it', async (from, to) => {
    const kept = response('01', { status: from })
    await started.store.keep(kept, turnOf('before'))
    const moved = await started.store.advance(kept.id, {
      status: to,
      reply: { text: 'after' },
      itemIds: ['msg_2'],
      model: 'lab/other',
    })
    expect(moved).toBe(isAllowed(from, to))
    expect(await found(kept.id)).toMatchObject(
      moved ? { status: to, model: 'lab/other' } : { status: from, model: 'lab/tiny' },
    )
    const { reply, input } = await started.store.open(kept)
    expect(reply).toEqual(moved ? { text: 'after' } : turnOf('before').reply)
    expect(input).toEqual(turnOf('before').input)
    expect(await started.store.withItem('msg_2', 'workspace-a')).toHaveLength(moved ? 1 : 0)
  })

  test('of a response that is gone is not written', async () => {
    expect(await started.store.advance('resp_none', { status: 'failed', reply: {} })).toBe(false)
  })

  test('that is not final is found at the next start', async () => {
    for (const [index, status] of RESPONSE_STATUSES.entries())
      await started.store.keep(response(`0${index}`, { status }), turnOf('x'))
    const unfinished = await started.store.unfinished()
    expect(unfinished.map(({ status }) => status).sort()).toEqual(['in_progress', 'queued'])
  })
})

test('an item is found in the newest responses that hold it', async () => {
  for (const digits of ['01', '02', '03'])
    await started.store.keep(response(digits), {
      ...turnOf(digits),
      itemIds: ['msg_1', 'msg_1', `own_${digits}`],
    })
  const holders = async (id: string) => (await started.store.withItem(id, 'workspace-a')).map((one) => one.id)
  expect(await holders('msg_1')).toEqual(['resp_03', 'resp_02', 'resp_01'])
  await started.store.remove('resp_03', 'workspace-a')
  expect(await holders('msg_1')).toEqual(['resp_02', 'resp_01'])
  expect(await holders('own_03')).toEqual([])
})

test('events are read stretch by stretch, from any of them', async () => {
  const kept = response('01', { streamed: true })
  await started.store.keep(kept, turnOf('x'))
  await started.store.addEvents(kept, { first: 0, last: 2, text: CANARY })
  await started.store.addEvents(kept, { first: 3, last: 3, text: 'three' })
  const from = async (sequence: number) => (await started.store.eventsFrom(kept, sequence))?.text ?? null
  expect(await Promise.all([0, 1, 2, 3, 4].map(from))).toEqual([CANARY, CANARY, CANARY, 'three', null])
  expect(onDisk().includes(CANARY)).toBe(false)
  await started.store.remove(kept.id, 'workspace-a')
  await started.store.addEvents(kept, { first: 4, last: 4, text: 'late' })
  expect(await from(0)).toBeNull()
})

describe('retention', () => {
  test('an expired response cannot be read before the sweep, and the sweep deletes all of it', async () => {
    const [old, young] = [response('01'), response('02', { expiresAt: START + 60 * DAY_MS })]
    await started.store.keep(old, { ...turnOf('old'), itemIds: ['msg_1'] })
    await started.store.keep(young, turnOf('young'))
    started.at = START + 30 * DAY_MS
    expect([await found(old.id), await found(young.id)]).toEqual([null, young])
    expect(await started.store.withItem('msg_1', 'workspace-a')).toEqual([])
    expect(await started.store.advance(old.id, { status: 'failed', reply: {} })).toBe(false)
    expect(await sweep(started.bodies, started.at)).toMatchObject({ responses: 1 })
    const count = (table: string) => started.bodies.file.query(`SELECT count(*) AS n FROM ${table}`).get()
    expect([count('responses'), count('response_parts'), count('response_items')]).toEqual([
      { n: 1 },
      { n: 2 },
      { n: 0 },
    ])
  })

  test('a response is stored as long as the last one that continues it', async () => {
    await started.store.keep(response('01'), turnOf('x'))
    await started.store.keepUntil(['resp_01'], START + 45 * DAY_MS)
    expect((await found('resp_01'))?.expiresAt).toBe(START + 45 * DAY_MS)
    // Neither shortened, nor written again for an hour more.
    await started.store.keepUntil(['resp_01'], START + 40 * DAY_MS)
    await started.store.keepUntil(['resp_01'], START + 45 * DAY_MS + 3_600_000)
    expect((await found('resp_01'))?.expiresAt).toBe(START + 45 * DAY_MS)
  })

  test('deleting is real: the sealed bytes are in neither the file nor its log, and the room is given back', async () => {
    const kept = response('01')
    const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(200_000))).toString('base64')
    await started.store.keep(kept, turnOf(noise))
    const sealed = started.bodies.file
      .query<{ sealed: Uint8Array }, []>('SELECT sealed FROM response_parts')
      .all()
      .map((row) => Buffer.from(row.sealed).subarray(60, 100))
    const pieces = () => sealed.filter((piece) => onDisk().includes(piece)).length
    expect(pieces()).toBe(2)
    const before = onDisk().length
    expect(await started.store.remove(kept.id, 'workspace-a')).toBe(true)
    expect(await started.store.remove(kept.id, 'workspace-a')).toBe(false)
    expect(await sweep(started.bodies, started.at)).toMatchObject({ responses: 0 })
    expect(pieces()).toBe(0)
    expect(onDisk().length).toBeLessThan(before / 4)
  })

  test('what a deleted workspace has left goes with the next sweep', async () => {
    for (let n = 0; n < 120; n++) {
      const of = n % 2 === 0 ? 'workspace-a' : 'workspace-b'
      await started.store.keep(response(String(1000 + n), { workspaceId: of }), {
        ...turnOf('x'),
        itemIds: [`one_${n}`, `two_${n}`],
      })
    }
    const deletedWorkspaces = ['workspace-b', 'workspace-c']
    expect(await sweep(started.bodies, START, { deletedWorkspaces })).toMatchObject({ responses: 60 })
    expect(await found('resp_1000')).not.toBeNull()
    expect(await found('resp_1001', 'workspace-b')).toBeNull()
  })

  test('a copy from before a migration goes with what is in it', async () => {
    const named = (name: string, days: number): void => {
      const path = join(started.folder, name)
      writeFileSync(path, '')
      utimesSync(path, START / 1000, (START - days * DAY_MS) / 1000)
    }
    named('bodies.db.before-0001_next', 31)
    named('bodies.db.before-0002_later', 29)
    named('sluice.db.before-0001_next', 31)
    const swept = Promise.withResolvers<Swept>()
    await started.store.keep(response('01', { expiresAt: START - 1 }), turnOf('x'))
    const sweeping = startSweeping(started.bodies, {
      now: () => START,
      retentionMs: 30 * DAY_MS,
      mostBytes: 0,
      deletedWorkspaces: async () => [],
      onSwept: swept.resolve,
      onError: swept.reject,
    })
    expect(await swept.promise).toEqual({ responses: 1, contents: 0, overBytes: 0 })
    await sweeping.stop()
    expect(
      readdirSync(started.folder)
        .filter((name) => name.includes('before'))
        .sort(),
    ).toEqual(['bodies.db.before-0002_later', 'sluice.db.before-0001_next'])
  })

  test('a sweep of many takes turns with everything else', async () => {
    for (let n = 0; n < 250; n++) await started.store.keep(response(String(1000 + n)), turnOf('x'))
    let turns = 0
    const count = () => {
      turns += 1
      timer = setImmediate(count)
    }
    let timer = setImmediate(count)
    expect(await sweep(started.bodies, START + 31 * DAY_MS)).toMatchObject({ responses: 250 })
    clearImmediate(timer)
    expect(turns).toBeGreaterThanOrEqual(3)
  })
})
