import { readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { eq, inArray, lte } from 'drizzle-orm'
import { responseItems, responses } from '../db/bodies-tables.ts'
import type { Database } from '../db/database.ts'

const ROWS_PER_SLICE = 100
const PAGES_PER_SLICE = 500
const SWEEP_MS = 10 * 60_000

/**
 * Deletes what has expired and what deleted workspaces have left, a slice at a time with a turn of the event loop
 * between. Then gives the room back and empties the write-ahead log, so that nothing deleted is left in either file.
 * Answers how many went.
 */
export async function sweep(
  bodies: Database,
  at: number,
  deletedWorkspaces: readonly string[] = [],
): Promise<number> {
  const { db } = bodies
  let gone = await deleteAll(bodies, () =>
    db
      .select({ id: responses.id })
      .from(responses)
      .where(lte(responses.expires_at, new Date(at)))
      .limit(ROWS_PER_SLICE),
  )
  for (const workspaceId of deletedWorkspaces)
    gone += await deleteAll(bodies, () =>
      // Found by the items, which are in order by workspace: responses are not.
      db
        .selectDistinct({ id: responseItems.response_id })
        .from(responseItems)
        .where(eq(responseItems.workspace_id, workspaceId))
        .limit(ROWS_PER_SLICE),
    )
  await giveBack(bodies)
  return gone
}

async function deleteAll({ db }: Database, next: () => Promise<{ id: string }[]>): Promise<number> {
  let gone = 0
  for (;;) {
    const ids = (await next()).map(({ id }) => id)
    if (ids.length === 0) return gone
    await db.delete(responses).where(inArray(responses.id, ids))
    gone += ids.length
    await turn()
  }
}

async function giveBack({ file }: Database): Promise<void> {
  const free = (): number =>
    file.query<{ freelist_count: number }, []>('PRAGMA freelist_count').get()?.freelist_count ?? 0
  for (let before = free(); before > 0; ) {
    file.run(`PRAGMA incremental_vacuum(${PAGES_PER_SLICE})`)
    const after = free()
    if (after >= before) break
    before = after
    await turn()
  }
  file.run('PRAGMA wal_checkpoint(TRUNCATE)')
}

/** Copies from before a migration hold what is deleted since: they go when all that is in them would have. */
export function removeCopies({ path }: Database, olderThan: number): void {
  const folder = dirname(path)
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(`${basename(path)}.before-`)) continue
    const copy = join(folder, name)
    if (statSync(copy).mtimeMs <= olderThan) rmSync(copy)
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export interface Sweeping {
  now(): number
  /** How long a response is kept. */
  retentionMs: number
  /** Ids of workspaces whose responses nobody can ask for any more. */
  deletedWorkspaces(): Promise<string[]>
  onSwept(gone: number): void
  onError(error: unknown): void
}

/** Sweeps at once and then every ten minutes. `stop` waits for a sweep that is under way. */
export function startSweeping(
  bodies: Database,
  { now, retentionMs, deletedWorkspaces, onSwept, onError }: Sweeping,
): { stop(): Promise<void> } {
  let running: Promise<void> = Promise.resolve()
  const run = (): void => {
    running = running
      .then(async () => {
        removeCopies(bodies, now() - retentionMs)
        return sweep(bodies, now(), await deletedWorkspaces())
      })
      .then((gone) => {
        if (gone > 0) onSwept(gone)
      }, onError)
  }
  run()
  const timer = setInterval(run, SWEEP_MS)
  return {
    stop() {
      clearInterval(timer)
      return running
    },
  }
}
