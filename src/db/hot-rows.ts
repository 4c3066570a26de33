import type { Database } from './database.ts'
import type { Bound } from './hot-statement.ts'

/**
 * Prepares an insert of complete rows; values are bound by position without conversion. Returns the number of rows.
 * `onConflict` ends the statement.
 */
export function prepareRows(
  { file }: Database,
  table: string,
  columns: readonly string[],
  onConflict: string,
): (values: readonly Bound[]) => number {
  const places = columns.map(() => '?').join(', ')
  const statement = file.prepare<unknown, Bound[]>(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places}) ${onConflict}`,
  )
  return (values) => statement.run(...values).changes
}
