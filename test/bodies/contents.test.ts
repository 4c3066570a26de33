import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type ContentLogOptions, createContentLog } from '../../src/bodies/content-log.ts'
import { type ContentStore, createContentStore } from '../../src/bodies/contents.ts'
import { makeRoom } from '../../src/bodies/room.ts'
import { startSweeping, sweep } from '../../src/bodies/sweep.ts'
import type { ContentLog, EndedContent, GenerationContent } from '../../src/core/generation-content.ts'
import { makeSealer } from '../../src/db/seal.ts'
import { usedBytes } from '../../src/db/space.ts'
import { DAY_MS, response, START, type Store, startStore, turnOf } from './fixture.ts'

let started: Store
let store: ContentStore
let log: ContentLog
const lost: number[] = []
const dropped: number[] = []

const storeWith = (fill: number): ContentStore =>
  createContentStore({
    bodies: started.bodies,
    sealer: makeSealer(new Uint8Array(32).fill(fill)),
    now: () => started.at,
    retentionMs: 30 * DAY_MS,
  })
const logWith = (more: Partial<ContentLogOptions> = {}): ContentLog =>
  createContentLog({
    store,
    onDropped: (contents) => dropped.push(contents),
    onLost: (_, contents) => lost.push(contents),
    onWritten: async () => undefined,
    ...more,
  })

beforeEach(() => {
  started = startStore()
  store = storeWith(1)
  log = logWith()
  lost.length = 0
  dropped.length = 0
})
afterEach(async () => {
  await log.close()
  started.stop()
})

const CANARY = 'canary-7f3a-purple-marmot'
const idOf = (n: number): string => `gen-${String(n).padStart(32, '0')}`
const contentOf = (prompt: string): GenerationContent => ({
  input: { prompt },
  output: { completion: prompt, reasoning: null },
  error: null,
})
const ended = (n: number, prompt = 'x', workspaceId = 'workspace-a'): EndedContent => ({
  generationId: idOf(n),
  workspaceId,
  weight: prompt.length * 2,
  content: async () => contentOf(prompt),
})
const noise = (bytes: number): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('base64')
const onDisk = (): Buffer =>
  Buffer.concat(readdirSync(started.folder).map((name) => readFileSync(join(started.folder, name))))
const ids = (): string[] =>
  started.bodies.file
    .query<{ id: string }, []>('SELECT generation_id AS id FROM logged_contents ORDER BY 1')
    .all()
    .map(({ id }) => id)

describe('a content', () => {
  test('is found at once, and in the file, and is nowhere in clear', async () => {
    log.add(ended(1, CANARY))
    expect(ids()).toEqual([])
    expect(await log.find(idOf(1), 'workspace-a')).toEqual(contentOf(CANARY))
    await log.close()
    expect(ids()).toEqual([idOf(1)])
    expect(await log.find(idOf(1), 'workspace-a')).toEqual(contentOf(CANARY))
    expect(onDisk().includes(CANARY)).toBe(false)
  })

  test('of another workspace is unknown, queued or stored', async () => {
    log.add(ended(1))
    expect(await log.find(idOf(1), 'workspace-b')).toBeNull()
    await log.close()
    expect(await log.find(idOf(1), 'workspace-b')).toBeNull()
    expect(await log.find(idOf(2), 'workspace-a')).toBeNull()
  })

  test('that is moved to another row or workspace is not opened, nor with another key', async () => {
    for (const n of [1, 2]) log.add(ended(n, String(n)))
    await log.close()
    await expect(storeWith(2).find(idOf(1), 'workspace-a')).rejects.toThrow('was made with secret key')
    started.bodies.file.run("UPDATE logged_contents SET workspace_id = 'workspace-b'")
    await expect(store.find(idOf(1), 'workspace-b')).rejects.toThrow('belongs elsewhere')
    started.bodies.file.run(
      `UPDATE logged_contents SET workspace_id = 'workspace-a',
        sealed = (SELECT sealed FROM logged_contents WHERE generation_id = '${idOf(2)}')`,
    )
    await expect(store.find(idOf(1), 'workspace-a')).rejects.toThrow('belongs elsewhere')
    expect(await store.find(idOf(2), 'workspace-a')).toEqual(contentOf('2'))
  })
})

describe('the queue', () => {
  test('writes what came together in few transactions, in turns with everything else', async () => {
    let writes = 0
    log = logWith({
      onWritten: async () => {
        writes += 1
      },
    })
    for (let n = 0; n < 150; n++) log.add(ended(n))
    let turns = 0
    const count = () => {
      turns += 1
      timer = setImmediate(count)
    }
    let timer = setImmediate(count)
    await log.close()
    clearImmediate(timer)
    expect([ids().length, writes]).toEqual([150, 3])
    expect(turns).toBeGreaterThanOrEqual(150)
  })

  test('drops what it has no room for, counts it, and takes more once it has room', async () => {
    log = logWith({ mostBytes: 10_000 })
    for (let n = 0; n < 5; n++) log.add(ended(n, 'x'.repeat(2_000)))
    expect(await log.find(idOf(4), 'workspace-a')).toBeNull()
    await log.close()
    expect([ids(), dropped]).toEqual([[idOf(0), idOf(1)], [3]])
    log.add(ended(5))
    await log.close()
    expect([ids(), dropped]).toEqual([[idOf(0), idOf(1), idOf(5)], [3]])
  })

  test('loses what cannot be put together or written, counts it, and goes on', async () => {
    const broken = async (): Promise<GenerationContent> => {
      throw new Error('no content')
    }
    log.add({ ...ended(1), content: broken })
    log.add(ended(2))
    await log.close()
    expect([ids(), lost]).toEqual([[idOf(2)], [1]])
    started.bodies.file.run('PRAGMA query_only = ON')
    log.add(ended(3))
    log.add(ended(4))
    await log.close()
    started.bodies.file.run('PRAGMA query_only = OFF')
    expect([ids(), lost]).toEqual([[idOf(2)], [1, 2]])
    expect(await log.find(idOf(3), 'workspace-a')).toBeNull()
    log.add(ended(5))
    await log.close()
    expect(ids()).toEqual([idOf(2), idOf(5)])
  })
})

test('lost contents are logged at once, and further ones in one line', async () => {
  const warned = Promise.withResolvers<void>()
  log = logWith({
    onLost(_, contents) {
      lost.push(contents)
      warned.resolve()
    },
  })
  started.bodies.file.run('PRAGMA query_only = ON')
  for (let n = 0; n < 64 * 5; n++) log.add(ended(n))
  await warned.promise
  expect(lost).toEqual([64])
  await log.close()
  started.bodies.file.run('PRAGMA query_only = OFF')
  expect(lost).toEqual([64, 64 * 4])
})

describe('retention', () => {
  test('expired contents cannot be read before the sweep, and the sweep deletes all of them', async () => {
    log.add(ended(1, noise(100_000)))
    await log.close()
    const piece = () =>
      started.bodies.file
        .query<{ sealed: Uint8Array }, []>('SELECT sealed FROM logged_contents')
        .all()
        .map(({ sealed }) => Buffer.from(sealed).subarray(60, 100))
    const [sealed = Buffer.alloc(0)] = piece()
    started.at = START + DAY_MS
    log.add(ended(2))
    await log.close()
    started.at = START + 30 * DAY_MS
    expect(await log.find(idOf(1), 'workspace-a')).toBeNull()
    expect(onDisk().includes(sealed)).toBe(true)
    expect(await sweep(started.bodies, started.at)).toEqual({ responses: 0, contents: 1, overBytes: 0 })
    expect(ids()).toEqual([idOf(2)])
    expect(onDisk().includes(sealed)).toBe(false)
  })

  test('what deleted workspaces have left goes with the next sweep', async () => {
    for (let n = 0; n < 250; n++) log.add(ended(n, 'x', n % 2 === 0 ? 'workspace-a' : 'workspace-b'))
    await log.close()
    const deletedWorkspaces = ['workspace-b', 'workspace-c']
    expect(await sweep(started.bodies, START, { deletedWorkspaces })).toMatchObject({ contents: 125 })
    expect(ids()).toHaveLength(125)
    expect(await log.find(idOf(0), 'workspace-a')).not.toBeNull()
  })
})

describe('the bound of the file', () => {
  const BOUND = 1_000_000
  test('the oldest contents go first, and no more of them than must', async () => {
    log = logWith({ onWritten: async () => void (await makeRoom(started.bodies, BOUND)) })
    for (let n = 0; n < 40; n++) {
      log.add(ended(n, noise(40_000)))
      await log.close()
      expect(usedBytes(started.bodies)).toBeLessThanOrEqual(BOUND)
    }
    const kept = ids()
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, at) => idOf(40 - kept.length + at)))
    // Each takes 81 kB in clear, twice over, of which three quarters are noise.
    expect(usedBytes(started.bodies)).toBeGreaterThan(BOUND * 0.85)
    await sweep(started.bodies, START, { mostBytes: BOUND })
    expect(statSync(started.path).size).toBeLessThanOrEqual(BOUND)
    expect(ids()).toEqual(kept)
  })

  test('stored responses stay, whatever they take', async () => {
    for (let n = 10; n < 20; n++) await started.store.keep(response(String(n)), turnOf(noise(60_000)))
    for (let n = 0; n < 5; n++) log.add(ended(n))
    await log.close()
    const swept = await sweep(started.bodies, START, { mostBytes: 500_000 })
    expect(swept).toEqual({ responses: 0, contents: 5, overBytes: usedBytes(started.bodies) - 500_000 })
    expect(swept.overBytes).toBeGreaterThan(0)
    expect(ids()).toEqual([])
    expect(await started.store.find('resp_10', 'workspace-a')).not.toBeNull()
    const firstSweep = Promise.withResolvers<unknown>()
    const sweeping = startSweeping(started.bodies, {
      now: () => START,
      retentionMs: DAY_MS,
      mostBytes: 500_000,
      deletedWorkspaces: async () => [],
      onSwept: firstSweep.resolve,
      onError: firstSweep.reject,
    })
    expect(await firstSweep.promise).toMatchObject({ overBytes: swept.overBytes })
    await sweeping.stop()
  })

  test('none is no bound', async () => {
    log.add(ended(1, noise(400_000)))
    await log.close()
    expect(await makeRoom(started.bodies, 0)).toBe(0)
    expect(await sweep(started.bodies, START)).toEqual({ responses: 0, contents: 0, overBytes: 0 })
    expect(ids()).toEqual([idOf(1)])
  })
})
