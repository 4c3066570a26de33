import { type Database, transact } from '../db/database.ts'
import { HOURLY_SUMS } from './rollups.ts'
import { windowStart } from './windows.ts'

const DAY_MS = 86_400_000
const PARTS = 'workspace_id, key_hash, user_id, model, provider_slug, provider_name, endpoint_id, is_byok'

/** False for a file of an older version, or one that was migrated and not served yet: then hours say all. */
export const hasDays = ({ file }: Database): boolean =>
  file.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'usage_daily'").get() !== null &&
  file.query('SELECT 1 FROM usage_daily LIMIT 1').get() !== null

/**
 * Fills the daily sums of a ledger that was written before there were any, from its hours: all or nothing, a day at a
 * time, so that a large ledger needs no large memory. Does nothing for any other.
 */
export function fillDays({ file }: Database): void {
  if (file.query('SELECT 1 FROM usage_daily LIMIT 1').get() !== null) return
  const hours = file
    .query<{ first: number | null; last: number | null }, []>(
      'SELECT (SELECT min(hour) FROM usage_hourly) AS first, (SELECT max(hour) FROM usage_hourly) AS last',
    )
    .get()
  const { first = null, last = null } = hours ?? {}
  if (first === null || last === null) return
  const fill = file.query<unknown, [number, number, number]>(
    `INSERT INTO usage_daily (day, ${PARTS}, ${HOURLY_SUMS.join(', ')})
     SELECT ?, ${PARTS}, ${HOURLY_SUMS.map((name) => `sum(${name})`).join(', ')}
     FROM usage_hourly WHERE hour >= ? AND hour < ? GROUP BY ${PARTS}`,
  )
  transact(file, () => {
    for (let day = windowStart('daily', first); day <= last; day += DAY_MS) fill.run(day, day, day + DAY_MS)
  })
}
