import type { Database } from '../../src/db/database.ts'

/** A row with these values; columns that need one and have no default get an empty text, or 0. */
export function insertRow(
  { file }: Database,
  table: string,
  values: Readonly<Record<string, string | number>>,
): void {
  const columns = file
    .query<{ name: string; type: string }, []>(
      `SELECT name, type FROM pragma_table_info('${table}') WHERE "notnull" = 1 AND dflt_value IS NULL`,
    )
    .all()
  const row = {
    ...Object.fromEntries(columns.map(({ name, type }) => [name, type === 'integer' ? 0 : ''])),
    ...values,
  }
  const names = Object.keys(row)
  const places = names.map(() => '?').join(', ')
  file.query(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${places})`).run(...Object.values(row))
}
