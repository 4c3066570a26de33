import { isNotNull } from 'drizzle-orm'
import { startSweeping } from '../bodies/sweep.ts'
import type { Database } from '../db/database.ts'
import { removeCopies } from '../db/migrations.ts'
import { workspaces } from '../db/tables.ts'
import { failInterrupted } from '../inference/responses/recover.ts'
import { startPruning } from '../ledger/retention.ts'
import type { Deps } from './deps.ts'

/** A copy of the ledger from before a migration is as large as the ledger was. */
const LEDGER_COPY_MS = 30 * 24 * 3_600_000

/**
 * What both files need beside requests. Rows of generations are pruned, now and every minute, as the settings say,
 * and old copies of the ledger from before migrations removed.
 * What sealed bodies need: responses that a former process left running are ended, before the first request; then what
 * has expired, belonged to a workspace that is deleted, or is more than the file may hold, is swept: now and every ten
 * minutes.
 */
export async function startUpkeep(
  bodies: Database,
  deps: Pick<Deps, 'log' | 'now' | 'database' | 'ledger' | 'retention' | 'responses'>,
  mostBytes: number,
): Promise<{ stop(): Promise<void> }> {
  const { log, now, database, responses } = deps
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
}: Pick<Deps, 'log' | 'now' | 'database' | 'ledger' | 'retention'>): { stop(): Promise<void> } {
  let isWarned = false
  return startPruning(database, {
    retention,
    now,
    mayPrune: () => !ledger.hasBacklog(),
    onPruned({ pruned, freedPages, isOverCap }) {
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

/** Only those that are known to be deleted: a database from a backup may not know a workspace that was made since. */
async function deletedWorkspaces({ db }: Database): Promise<string[]> {
  const rows = await db.select({ id: workspaces.id }).from(workspaces).where(isNotNull(workspaces.deleted_at))
  return rows.map(({ id }) => id)
}
