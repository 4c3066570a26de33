import { and, eq, gt, isNull, notExists, or, type SQL } from 'drizzle-orm'
import type { Database, Db } from '../../../db/database.ts'
import { apiKeys } from '../../../db/tables.ts'

/** Inference keys that would be accepted now and for which `condition` holds. */
const selectActive = (db: Db, condition: SQL | undefined, now: number) =>
  db
    .select({ name: apiKeys.name, label: apiKeys.label, creator_user_id: apiKeys.creator_user_id })
    .from(apiKeys)
    .where(
      and(
        condition,
        eq(apiKeys.kind, 'inference'),
        eq(apiKeys.disabled, false),
        isNull(apiKeys.deleted_at),
        or(isNull(apiKeys.expires_at), gt(apiKeys.expires_at, new Date(now))),
      ),
    )

/** In the order of their creation. */
export const activeKeys = async ({ db }: Pick<Database, 'db'>, condition: SQL | undefined, now: number) =>
  await selectActive(db, condition, now).orderBy(apiKeys.id)

/** The same as a condition of a statement, for a check that holds until the statement has run. */
export const noActiveKeys = (db: Db, condition: SQL | undefined, now: number): SQL =>
  notExists(selectActive(db, condition, now))

const MOST_NAMES = 5

/** The first few, by name and masked key. */
export function namesOf(keys: readonly { name: string; label: string }[]): string {
  const names = keys.slice(0, MOST_NAMES).map(({ name, label }) => `"${name.slice(0, 60)}" ${label}`)
  const more = keys.length - names.length
  return names.join(', ') + (more > 0 ? ` and ${more} more` : '')
}
