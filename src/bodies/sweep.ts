import { eq, inArray, lte } from 'drizzle-orm'
import { turnOfLoop } from '../core/turn.ts'
import { loggedContents, rememberedItems, responseItems, responses } from '../db/bodies-tables.ts'
import type { Database } from '../db/database.ts'
import { removeCopies } from '../db/migrations.ts'
import { usedBytes } from '../db/space.ts'
import { giveBack, makeRoom } from './room.ts'

const ROWS_PER_SLICE = 100
const SWEEP_MS = 10 * 60_000

/** How many rows of each kind went. */
export interface Swept {
  responses: number
  contents: number
  /** The excess over the file's limit that stored responses alone cause. */
  overBytes: number
}

export interface ToSweep {
  /** Ids of deleted workspaces, whose bodies can no longer be read. */
  deletedWorkspaces?: readonly string[]
  /** Size limit of the file; 0, the default: no limit. */
  mostBytes?: number
}

/**
 * Deletes expired rows, rows of deleted workspaces, and the oldest logged contents beyond the file's limit, in slices with
 * a turn of the event loop in between. Then releases the space and empties the write-ahead log, so that neither file has
 * deleted data. Returns the counts.
 */
export async function sweep(
  bodies: Database,
  at: number,
  { deletedWorkspaces = [], mostBytes = 0 }: ToSweep = {},
): Promise<Swept> {
  const gone = await deleteResponses(bodies, at, deletedWorkspaces)
  const expired = await deleteContents(bodies, at, deletedWorkspaces)
  await deleteRemembered(bodies, at, deletedWorkspaces)
  const contents = expired + (await makeRoom(bodies, mostBytes))
  await giveBack(bodies)
  const overBytes = mostBytes === 0 ? 0 : Math.max(0, usedBytes(bodies) - mostBytes)
  return { responses: gone, contents, overBytes }
}

async function deleteResponses(
  { db }: Database,
  at: number,
  deletedWorkspaces: readonly string[],
): Promise<number> {
  const { id, expires_at } = responses
  const { response_id, workspace_id } = responseItems
  const expired = db
    .select({ id })
    .from(responses)
    .where(lte(expires_at, new Date(at)))
  // Found by the items, which are in order by workspace: responses are not.
  const ofDeleted = deletedWorkspaces.map((each) =>
    db.selectDistinct({ id: response_id }).from(responseItems).where(eq(workspace_id, each)),
  )
  return deleteAll([expired, ...ofDeleted], (found) =>
    db
      .delete(responses)
      .where(inArray(id, found.limit(ROWS_PER_SLICE)))
      .returning({ id }),
  )
}

async function deleteContents(
  { db }: Database,
  at: number,
  deletedWorkspaces: readonly string[],
): Promise<number> {
  const { generation_id: id, expires_at, workspace_id } = loggedContents
  const gone = [lte(expires_at, new Date(at)), ...deletedWorkspaces.map((each) => eq(workspace_id, each))]
  return deleteAll(gone, (condition) =>
    db
      .delete(loggedContents)
      .where(inArray(id, db.select({ id }).from(loggedContents).where(condition).limit(ROWS_PER_SLICE)))
      .returning({ id }),
  )
}

async function deleteRemembered(
  { db }: Database,
  at: number,
  deletedWorkspaces: readonly string[],
): Promise<number> {
  const { id, expires_at, workspace_id } = rememberedItems
  const gone = [lte(expires_at, new Date(at)), ...deletedWorkspaces.map((each) => eq(workspace_id, each))]
  return deleteAll(gone, (condition) =>
    db
      .delete(rememberedItems)
      .where(inArray(id, db.select({ id }).from(rememberedItems).where(condition).limit(ROWS_PER_SLICE)))
      .returning({ id }),
  )
}

/** Deletes the rows of each condition in slices. Returns their number. */
async function deleteAll<Condition>(
  conditions: readonly Condition[],
  deleteSlice: (condition: Condition) => PromiseLike<readonly unknown[]>,
): Promise<number> {
  let gone = 0
  for (const condition of conditions) {
    for (;;) {
      const { length } = await deleteSlice(condition)
      if (length === 0) break
      gone += length
      await turnOfLoop()
    }
  }
  return gone
}

export interface Sweeping {
  now(): number
  /** The retention of a response. */
  retentionMs: number
  /** What the file may hold; 0: without bound. */
  mostBytes: number
  /** Ids of deleted workspaces, whose bodies can no longer be read. */
  deletedWorkspaces(): Promise<string[]>
  /** Not called for a sweep without work. */
  onSwept(swept: Swept): void
  onError(error: unknown): void
}

/** Sweeps at once and then every ten minutes. `stop` waits for a sweep that is under way. */
export function startSweeping(
  bodies: Database,
  { now, retentionMs, mostBytes, deletedWorkspaces, onSwept, onError }: Sweeping,
): { stop(): Promise<void> } {
  let running: Promise<void> = Promise.resolve()
  const run = (): void => {
    running = running
      .then(async () => {
        removeCopies(bodies, now() - retentionMs)
        return sweep(bodies, now(), { deletedWorkspaces: await deletedWorkspaces(), mostBytes })
      })
      .then((swept) => {
        if (swept.responses + swept.contents + swept.overBytes > 0) onSwept(swept)
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
