import { existsSync } from 'node:fs'
import { RESPONSE_STATUSES } from '../core/response-status.ts'
import { type Database, openForReading } from '../db/database.ts'
import { appliedTags, BODIES_MIGRATIONS, newestTag } from '../db/migrations.ts'

export interface BodiesReport {
  path: string
  responses: number
  sealedBytes: number
  /** One sentence each; empty when nothing is wrong. */
  differences: string[]
}

/**
 * Looks whether the file of sealed bodies is whole: undamaged, of this schema, every response with what was said in it.
 * Only reads, needs no key and opens nothing sealed. Null when there is no such file.
 */
export function verifyBodies(path: string): BodiesReport | null {
  if (!existsSync(path)) return null
  const report: BodiesReport = { path, responses: 0, sealedBytes: 0, differences: [] }
  try {
    const database = openForReading(path)
    try {
      examine(database, report)
    } finally {
      database.close()
    }
  } catch (error) {
    report.differences.push(error instanceof Error ? error.message : String(error))
  }
  return report
}

function examine(database: Database, report: BodiesReport): void {
  const { file } = database
  const schema = appliedTags(file).at(-1)
  if (schema !== newestTag(BODIES_MIGRATIONS)) {
    report.differences.push(
      `${report.path} has the schema ${schema ?? 'of another program'}, and this version of Sluice verifies ${newestTag(BODIES_MIGRATIONS)}`,
    )
    return
  }
  // One transaction: a server that goes on writing does not move what is compared.
  file.run('BEGIN')
  try {
    const damage = file
      .query<{ integrity_check: string }, []>('PRAGMA integrity_check(20)')
      .all()
      .map((row) => row.integrity_check)
      .filter((line) => line !== 'ok')
      .map((line) => `${report.path} is damaged: ${line}`)
    const orphans = file
      .query<{ table: string }, []>('PRAGMA foreign_key_check')
      .all()
      .map(({ table }) => `${report.path}: a row of "${table}" belongs to no response`)
    report.differences.push(...damage, ...orphans, ...incomplete(database))
    Object.assign(report, totals(database))
  } finally {
    if (file.inTransaction) file.run('ROLLBACK')
  }
}

function totals({ file }: Database): { responses: number; sealedBytes: number } {
  const row = file
    .query<{ n: number; bytes: number }, []>(
      'SELECT (SELECT count(*) FROM responses) AS n, (SELECT coalesce(sum(length(sealed)), 0) FROM response_parts) AS bytes',
    )
    .get()
  return { responses: row?.n ?? 0, sealedBytes: row?.bytes ?? 0 }
}

function incomplete({ file }: Database): string[] {
  const lacking = file
    .query<{ id: string }, []>(
      `SELECT id FROM responses WHERE 2 <>
        (SELECT count(*) FROM response_parts WHERE response_id = id AND part IN ('reply', 'input'))`,
    )
    .all()
    .map(({ id }) => `response ${id}: what was said is not there`)
  const known = RESPONSE_STATUSES.map((status) => `'${status}'`).join(', ')
  const strange = file
    .query<{ id: string }, []>(`SELECT id FROM responses WHERE status NOT IN (${known})`)
    .all()
    .map(({ id }) => `response ${id}: its status is none that a response can have`)
  return [...lacking, ...strange]
}

/** What `sluice verify` prints of it. */
export function sayBodies({ path, responses, sealedBytes, differences }: BodiesReport): string[] {
  const what = `${responses} stored responses, ${sealedBytes} bytes sealed`
  const verdict =
    differences.length === 0
      ? `ok: ${what}`
      : `${differences.length} ${differences.length === 1 ? 'difference' : 'differences'} in ${what}`
  return [...differences, `${path}: ${verdict}`]
}
