import { eq, inArray, lte } from 'drizzle-orm'
import { loggedContents, rememberedItems, responseItems, responses } from '../db/bodies-tables.ts'
import type { Database } from '../db/database.ts'
import { removeCopies } from '../db/migrations.ts'
import { usedBytes } from '../db/space.ts'
import { giveBack, makeRoom, turn } from './room.ts'

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
  const remove = async (ids: string[]): Promise<void> =>
    void (await db.delete(responses).where(inArray(responses.id, ids)))
  let gone = await deleteAll(remove, () =>
    db
      .select({ id: responses.id })
      .from(responses)
      .where(lte(responses.expires_at, new Date(at)))
      .limit(ROWS_PER_SLICE),
  )
  for (const workspaceId of deletedWorkspaces)
    gone += await deleteAll(remove, () =>
      // Found by the items, which are in order by workspace: responses are not.
      db
        .selectDistinct({ id: responseItems.response_id })
        .from(responseItems)
        .where(eq(responseItems.workspace_id, workspaceId))
        .limit(ROWS_PER_SLICE),
    )
  return gone
}

async function deleteContents(
  { db }: Database,
  at: number,
  deletedWorkspaces: readonly string[],
): Promise<number> {
  const remove = async (ids: string[]): Promise<void> =>
    void (await db.delete(loggedContents).where(inArray(loggedContents.generation_id, ids)))
  const ofThese = [
    lte(loggedContents.expires_at, new Date(at)),
    ...deletedWorkspaces.map((workspaceId) => eq(loggedContents.workspace_id, workspaceId)),
  ]
  let gone = 0
  for (const condition of ofThese)
    gone += await deleteAll(remove, () =>
      db
        .select({ id: loggedContents.generation_id })
        .from(loggedContents)
        .where(condition)
        .limit(ROWS_PER_SLICE),
    )
  return gone
}

async function deleteRemembered(
  { db }: Database,
  at: number,
  deletedWorkspaces: readonly string[],
): Promise<void> {
  const { id, expires_at, workspace_id } = rememberedItems
  const remove = async (ids: string[]): Promise<void> =>
    void (await db.delete(rememberedItems).where(inArray(id, ids)))
  const ofThese = [lte(expires_at, new Date(at)), ...deletedWorkspaces.map((each) => eq(workspace_id, each))]
  for (const condition of ofThese)
    await deleteAll(remove, () =>
      db.select({ id }).from(rememberedItems).where(condition).limit(ROWS_PER_SLICE),
    )
}

async function deleteAll(
  remove: (ids: string[]) => Promise<void>,
  next: () => Promise<{ id: string }[]>,
): Promise<number> {
  let gone = 0
  for (;;) {
    const ids = (await next()).map(({ id }) => id)
    if (ids.length === 0) return gone
    await remove(ids)
    gone += ids.length
    await turn()
  }
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
