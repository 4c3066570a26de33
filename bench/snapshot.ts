import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { change } from '../src/admin/change.ts'
import { loadConfig } from '../src/config.ts'
import { hashKey } from '../src/core/keys.ts'
import type { ModelDirectory } from '../src/core/snapshot.ts'
import { DATABASE_FILE, type Database, openDatabase } from '../src/db/database.ts'
import { migrate } from '../src/db/migrations.ts'
import { apiKeys, guardrailKeys, guardrails, workspaces } from '../src/db/tables.ts'
import { ensureFirstRun } from '../src/server/first-run.ts'
import { createSnapshotSource, type SnapshotSource } from '../src/snapshot/source.ts'
import { aligned, markdown } from './print.ts'
import type { Settings } from './settings.ts'
import { percentile } from './statistics.ts'

/** What a change of administration costs the thread that serves, and what keys cost at the start and in memory. */

const SIZES = [100, 10_000, 100_000]
const CHANGE_GOAL_MS = 1
const START_GOAL_MS = 500
const BYTES_GOAL = 1000
const ROUNDS = 200

const noModels: ModelDirectory = {
  find: () => undefined,
  isKnown: () => false,
  nearest: () => [],
  list: () => [],
}
const open = (database: Database) => createSnapshotSource(database, { providers: [], models: noModels })

export async function benchSnapshot(settings: Settings, folder: string): Promise<boolean> {
  const rows: string[][] = []
  let isGood = true
  for (const size of SIZES) {
    const { cells, isGood: isGoodSize } = await measured(mkdtempSync(join(folder, 'snapshot-')), size)
    rows.push(...cells)
    isGood &&= isGoodSize
  }
  const print = settings.isMarkdown ? markdown : aligned
  console.log(`${print([['keys', 'what', 'p50', 'p99', 'goal'], ...rows])}\n`)
  console.log(
    'Milliseconds of the main thread. A change: to apply it to the Snapshot; its transaction apart.',
  )
  return isGood
}

async function measured(folder: string, size: number): Promise<{ cells: string[][]; isGood: boolean }> {
  const database = openDatabase(join(folder, DATABASE_FILE))
  migrate(database)
  await ensureFirstRun(
    database,
    await loadConfig({ environment: { SLUICE_DATA: folder }, workingFolder: folder }),
  )
  const seeded = seed(database, size)
  const starts: number[] = []
  for (let count = 0; count < 5; count++) {
    const [startedAt, cpu] = [performance.now(), process.cpuUsage()]
    open(database)
    const { user, system } = process.cpuUsage(cpu)
    // Whichever is less: other work on the machine stretches the one, other threads of ours the other.
    starts.push(Math.min(performance.now() - startedAt, (user + system) / 1000))
  }
  const before = usedBytes()
  const source = open(database)
  const bytes = (usedBytes() - before) / size
  const start = Math.min(...starts)
  const cells = [
    ['', 'start', start.toFixed(1), '', `${START_GOAL_MS} ms`],
    ['', 'memory', `${bytes.toFixed(0)} bytes a key`, '', size < 10_000 ? '' : `${BYTES_GOAL}`],
  ]
  let isGood = start <= START_GOAL_MS && (size < 10_000 || bytes <= BYTES_GOAL)
  for (const [name, write] of changes(seeded)) {
    const times = await timed(database, source, write)
    const p50 = percentile(times, 0.5)
    isGood &&= p50 <= CHANGE_GOAL_MS
    cells.push(['', name, p50.toFixed(3), percentile(times, 0.99).toFixed(3), `${CHANGE_GOAL_MS} ms`])
  }
  database.close()
  rmSync(folder, { recursive: true })
  return { cells: cells.map(([, ...rest], at) => [at === 0 ? String(size) : '', ...rest]), isGood }
}

function usedBytes(): number {
  Bun.gc(true)
  return process.memoryUsage().heapUsed
}

interface Seeded {
  workspace: typeof workspaces.$inferSelect
  guardrailId: string
  hashes: readonly string[]
}

function seed(database: Database, size: number): Seeded {
  const [workspace] = database.sync.select().from(workspaces).all()
  if (workspace === undefined) throw new Error('the first run made no workspace')
  const hashes = Array.from({ length: size }, (_, index) => hashKey(`bench-${index}`))
  database.file.run('BEGIN')
  const insert = database.file.query(
    'INSERT INTO api_keys (hash, id, kind, name, label, creator_user_id, workspace_id, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  for (const [index, hash] of hashes.entries()) {
    const label = `sk-sl-v1-${hash.slice(0, 3)}...${hash.slice(-3)}`
    insert.run(
      hash,
      index + 100,
      'inference',
      `key ${index}`,
      label,
      workspace.created_by,
      workspace.id,
      Date.now(),
    )
  }
  database.file.run('COMMIT')
  const guardrailId = crypto.randomUUID()
  database.sync
    .insert(guardrails)
    .values({ id: guardrailId, workspace_id: workspace.id, name: 'bench', ignored_models: ['x/y'] })
    .run()
  return { workspace, guardrailId, hashes }
}

type Writes = Parameters<typeof change>[3]

const changes = ({
  workspace,
  guardrailId,
  hashes,
}: Seeded): readonly [string, (round: number) => Writes][] => [
  [
    'a key is made',
    (round) => (tx) => [
      tx.insert(apiKeys).values({
        hash: hashKey(`further-${round}`),
        id: 1_000_000 + round,
        kind: 'inference',
        name: 'further',
        label: 'sk-sl-v1-abc...xyz',
        creator_user_id: workspace.created_by,
        workspace_id: workspace.id,
      }),
    ],
  ],
  [
    'a key is changed',
    (round) => (tx) => [
      tx
        .update(apiKeys)
        .set({ name: `n${round}` })
        .where(eq(apiKeys.hash, hashes[round % hashes.length] ?? '')),
    ],
  ],
  [
    'a key gets a guardrail',
    (round) => (tx) => {
      const hash = hashes[round % hashes.length] ?? ''
      return [
        tx.delete(guardrailKeys).where(eq(guardrailKeys.key_hash, hash)),
        tx.insert(guardrailKeys).values({
          id: crypto.randomUUID(),
          guardrail_id: guardrailId,
          key_hash: hash,
          assigned_by: workspace.created_by,
        }),
      ]
    },
  ],
  [
    'a guardrail is changed',
    (round) => (tx) => [
      tx
        .update(guardrails)
        .set({ ignored_models: [`x/${round}`] })
        .where(eq(guardrails.id, guardrailId)),
    ],
  ],
  [
    'their workspace is changed',
    (round) => (tx) => [
      tx
        .update(workspaces)
        .set({ name: `n${round}` })
        .where(eq(workspaces.id, workspace.id)),
    ],
  ],
]

const ACTOR = {
  type: 'system',
  id: 'bench',
  label: 'bench',
  userId: '',
  requestId: null,
  address: null,
  userAgent: null,
} as const

/** Ascending: what it takes to apply each change, and to find the first key after it. */
async function timed(
  database: Database,
  source: SnapshotSource,
  write: (round: number) => Writes,
): Promise<number[]> {
  const times: number[] = []
  const [key] = source.current().keysByHash.values()
  const snapshot = {
    current: source.current,
    applyChanges() {
      const startedAt = performance.now()
      source.applyChanges()
      source.current().keysByHash.get(key?.hash ?? '')
      times.push(performance.now() - startedAt)
    },
  }
  for (let round = 0; round < ROUNDS; round++) {
    const entry = { action: 'bench.change', resourceId: String(round), workspaceId: null } as const
    await change({ database, now: Date.now, snapshot }, ACTOR, entry, write(round))
  }
  return times.sort((a, b) => a - b)
}
