import type { Database } from './database.ts'
import type { Bound } from './hot-statement.ts'

/**
 * Prepares an insert of whole rows: values are bound by their place, as they are. Returns how many rows were written.
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
