import type { Database } from './database.ts'

/** A part of the Snapshot that a row belongs to; ids are of that part. */
export type Part =
  | 'organization'
  | 'workspace'
  | 'key'
  | 'guardrail'
  | 'guardrail-of-key'
  | 'guardrail-of-member'
  | 'presets-of-workspace'
  | 'own-keys-of-workspace'

/** The written rows by part of the snapshot. */
export type ChangedRows = ReadonlyMap<Part, ReadonlySet<string>>

export interface WrittenRows {
  /** All that was written and is not yet forgotten. */
  read(): ChangedRows
  /** The changes that were read are applied: forgets them. */
  forget(): void
}

/** `$` is replaced by the old or the new row. */
const WATCHED: readonly (readonly [table: string, part: Part, id: string])[] = [
  ['organizations', 'organization', '$.id'],
  ['workspaces', 'workspace', '$.id'],
  ['workspace_budgets', 'workspace', '$.workspace_id'],
  ['observability_destinations', 'workspace', '$.workspace_id'],
  ['api_keys', 'key', '$.hash'],
  ['guardrails', 'guardrail', '$.id'],
  ['guardrail_keys', 'guardrail-of-key', '$.key_hash'],
  ['guardrail_members', 'guardrail-of-member', '$.user_id'],
  ['presets', 'presets-of-workspace', '$.workspace_id'],
  [
    'preset_versions',
    'presets-of-workspace',
    "coalesce((SELECT workspace_id FROM presets WHERE id = $.preset_id), '')",
  ],
  ['byok_keys', 'own-keys-of-workspace', '$.workspace_id'],
]

const OPERATIONS = [
  ['INSERT', ['NEW']],
  ['UPDATE', ['OLD', 'NEW']],
  ['DELETE', ['OLD']],
] as const

interface Logged {
  seq: number
  part: Part
  id: string
}

/**
 * Records which rows this connection writes, from now on. SQLite's own triggers do it, in the transaction that writes:
 * no service can forget a row, cascades count too, and a write that is rolled back leaves no record. The record is in memory and
 * belongs to the connection; the file is not changed.
 */
export function watchRows({ file }: Database): WrittenRows {
  file.run(
    'CREATE TEMP TABLE IF NOT EXISTS changed_rows (seq INTEGER PRIMARY KEY AUTOINCREMENT, part TEXT, id TEXT)',
  )
  for (const [table, part, id] of WATCHED) {
    for (const [operation, rows] of OPERATIONS) {
      const inserts = rows.map(
        (row) => `INSERT INTO changed_rows (part, id) VALUES ('${part}', ${id.replaceAll('$', row)});`,
      )
      file.run(
        `CREATE TEMP TRIGGER IF NOT EXISTS changed_${table}_${operation} AFTER ${operation} ON main.${table} BEGIN ${inserts.join(' ')} END`,
      )
    }
  }
  const newest = file.query<{ seq: number | null }, []>('SELECT max(seq) AS seq FROM temp.changed_rows')
  const logged = file.query<Logged, [number]>(
    'SELECT seq, part, id FROM temp.changed_rows WHERE seq > ? ORDER BY seq',
  )
  const gone = file.query<null, [number]>('DELETE FROM temp.changed_rows WHERE seq <= ?')
  let seen = newest.get()?.seq ?? 0
  let last = seen
  return {
    read() {
      const changed = new Map<Part, Set<string>>()
      for (const { seq, part, id } of logged.all(seen)) {
        last = seq
        const ids = changed.get(part) ?? new Set<string>()
        changed.set(part, ids.add(id))
      }
      return changed
    },
    forget() {
      seen = last
      gone.run(seen)
    },
  }
}
