import { and, eq, gt, isNull, or, type SQL } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { apiKeys } from '../../db/tables.ts'

/** Inference keys that would be accepted now, by this condition, in the order of their making. */
export const activeKeys = ({ sync }: Database, condition: SQL | undefined, now: number) =>
  sync
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
    .orderBy(apiKeys.id)
    .all()

const MOST_NAMES = 5

/** The first few, by name and masked key. */
export function namesOf(keys: readonly { name: string; label: string }[]): string {
  const names = keys.slice(0, MOST_NAMES).map(({ name, label }) => `"${name.slice(0, 60)}" ${label}`)
  const more = keys.length - names.length
  return names.join(', ') + (more > 0 ? ` and ${more} more` : '')
}
