import { isNotNull } from 'drizzle-orm'
import { startSweeping } from '../bodies/sweep.ts'
import { BODIES_FILE, DATABASE_FILE, type Database } from '../db/database.ts'
import { removeCopies } from '../db/migrations.ts'
import { workspaces } from '../db/tables.ts'
import { failInterrupted } from '../inference/responses/recover.ts'
import { startPruning } from '../ledger/retention.ts'
import type { Deps } from './deps.ts'

/** How long copies of the ledger from before migrations are kept: each is as large as the ledger was. */
const LEDGER_COPY_MS = 30 * 24 * 3_600_000

/**
 * Starts the maintenance of both databases. The ledger: prunes rows of generations according to the settings, now and
 * every minute, and removes old copies from before migrations. Sealed bodies: fails responses that a former process left
 * running, before the first request; then, now and every ten minutes, deletes bodies that have expired, belong to a
 * deleted workspace, or exceed the size limit.
 */
export async function startUpkeep(
  bodies: Database,
  deps: Pick<Deps, 'log' | 'now' | 'database' | 'ledger' | 'retention' | 'responses' | 'observe'>,
  mostBytes: number,
): Promise<{ stop(): Promise<void> }> {
  const { log, now, database, responses, observe } = deps
  const ended = await failInterrupted(responses.store, (error, id) =>
    log.error({ err: error, response_id: id }, 'a response that a crash had left running cannot be ended'),
  )
  if (ended > 0) log.warn({ responses: ended }, 'ended responses that a crash had left running')
  const pruning = pruneRows(deps)
  try {
    removeCopies(database, now() - Math.min(LEDGER_COPY_MS, deps.retention.maxAgeMs ?? LEDGER_COPY_MS))
  } catch (error) {
    log.error({ err: error }, 'old copies of the ledger cannot be removed')
  }
  const sweeping = startSweeping(bodies, {
    now,
    retentionMs: responses.retentionMs,
    mostBytes,
    deletedWorkspaces: () => deletedWorkspaces(database),
    onSwept({ responses: gone, contents, overBytes }) {
      observe.pruned(BODIES_FILE, gone + contents)
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
  return {
    async stop() {
      await Promise.all([pruning.stop(), sweeping.stop()])
    },
  }
}

function pruneRows({
  log,
  now,
  database,
  ledger,
  retention,
  observe,
}: Pick<Deps, 'log' | 'now' | 'database' | 'ledger' | 'retention' | 'observe'>): { stop(): Promise<void> } {
  let isWarned = false
  return startPruning(database, {
    retention,
    now,
    mayPrune: () => !ledger.hasBacklog(),
    onPruned({ pruned, freedPages, isOverCap }) {
      observe.pruned(DATABASE_FILE, pruned)
      if (pruned > 0)
        log.info({ generations: pruned, freed_pages: freedPages }, 'pruned old rows of the ledger')
      if (isOverCap && !isWarned)
        log.warn('the ledger is larger than SLUICE_LEDGER_MAX_MB, and what is left in it is not pruned')
      isWarned = isOverCap
    },
    onError: (error) =>
      log.error({ err: error }, 'old rows of the ledger could not be pruned; trying again later'),
  })
}

/** Only workspaces recorded as deleted: a restored database may lack a workspace that was created since. */
async function deletedWorkspaces({ db }: Database): Promise<string[]> {
  const rows = await db.select({ id: workspaces.id }).from(workspaces).where(isNotNull(workspaces.deleted_at))
  return rows.map(({ id }) => id)
}
