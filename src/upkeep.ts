import { startSweeping } from './bodies/sweep.ts'
import type { Database } from './db/database.ts'
import type { Deps } from './deps.ts'
import { failInterrupted } from './inference/responses/recover.ts'

/**
 * What stored responses need beside requests: those that a former process left running are ended, before the first
 * request; then what has expired is swept, now and every ten minutes.
 */
export async function startUpkeep(
  bodies: Database,
  { log, now, responses }: Pick<Deps, 'log' | 'now' | 'responses'>,
): Promise<{ stop(): Promise<void> }> {
  const ended = await failInterrupted(responses.store, (error, id) =>
    log.error({ err: error, response_id: id }, 'a response that a crash had left running cannot be ended'),
  )
  if (ended > 0) log.warn({ responses: ended }, 'ended responses that a crash had left running')
  return startSweeping(bodies, {
    now,
    retentionMs: responses.retentionMs,
    onSwept: (gone) => log.info({ responses: gone }, 'stored responses have expired'),
    onError: (error) => log.error({ err: error }, 'expired responses could not be swept; trying again later'),
  })
}
