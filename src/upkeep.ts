import { isNotNull } from 'drizzle-orm'
import { startSweeping } from './bodies/sweep.ts'
import type { Database } from './db/database.ts'
import { workspaces } from './db/tables.ts'
import type { Deps } from './deps.ts'
import { failInterrupted } from './inference/responses/recover.ts'

/**
 * What sealed bodies need beside requests: responses that a former process left running are ended, before the first
 * request; then what has expired, belonged to a workspace that is deleted, or is more than the file may hold, is swept:
 * now and every ten minutes.
 */
export async function startUpkeep(
  bodies: Database,
  { log, now, database, responses }: Pick<Deps, 'log' | 'now' | 'database' | 'responses'>,
  mostBytes: number,
): Promise<{ stop(): Promise<void> }> {
  const ended = await failInterrupted(responses.store, (error, id) =>
    log.error({ err: error, response_id: id }, 'a response that a crash had left running cannot be ended'),
  )
  if (ended > 0) log.warn({ responses: ended }, 'ended responses that a crash had left running')
  return startSweeping(bodies, {
    now,
    retentionMs: responses.retentionMs,
    mostBytes,
    deletedWorkspaces: () => deletedWorkspaces(database),
    onSwept({ responses: gone, contents, overBytes }) {
      if (gone + contents > 0)
        log.info({ responses: gone, contents }, 'swept stored responses and logged contents')
      if (overBytes > 0)
        log.warn(
          { over_bytes: overBytes },
          'stored responses alone are more than SLUICE_BODIES_MAX_MB: nothing is logged of generations',
        )
    },
    onError: (error) => log.error({ err: error }, 'bodies.db could not be swept; trying again later'),
  })
}

/** Only those that are known to be deleted: a database from a backup may not know a workspace that was made since. */
async function deletedWorkspaces({ db }: Database): Promise<string[]> {
  const rows = await db.select({ id: workspaces.id }).from(workspaces).where(isNotNull(workspaces.deleted_at))
  return rows.map(({ id }) => id)
}
