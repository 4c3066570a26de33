import { existsSync } from 'node:fs'
import { RESPONSE_STATUSES } from '../core/response-status.ts'
import { withVerdict } from '../core/verdict.ts'
import { type Database, openForReading } from '../db/database.ts'
import { appliedTags, BODIES_MIGRATIONS, newestTag } from '../db/migrations.ts'
import { SEALED_OVERHEAD_BYTES, SEALED_VERSION } from '../db/seal.ts'

export interface BodiesReport {
  path: string
  responses: number
  /** Contents of generations that workspaces log. */
  contents: number
  sealedBytes: number
  /** One sentence each; empty when nothing is wrong. */
  differences: string[]
}

/**
 * Checks the file of encrypted bodies: intact, of this schema, every response with its contents. Only reads, needs no key
 * and decrypts nothing. Null if the file does not exist.
 */
export function verifyBodies(path: string): BodiesReport | null {
  if (!existsSync(path)) return null
  const report: BodiesReport = { path, responses: 0, contents: 0, sealedBytes: 0, differences: [] }
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
  // One transaction, so that a running server does not change the data during the check.
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
    report.differences.push(
      ...damage,
      ...orphans,
      ...incomplete(database),
      ...unsealed(database),
      ...openItems(database, 'remembered_items', 'id', 'remembered item'),
      ...openItems(database, 'export_contents', 'generation_id', 'content for destinations'),
    )
    Object.assign(report, totals(database))
  } finally {
    if (file.inTransaction) file.run('ROLLBACK')
  }
}

function totals({ file }: Database): Pick<BodiesReport, 'responses' | 'contents' | 'sealedBytes'> {
  const row = file
    .query<{ responses: number; contents: number; sealedBytes: number }, []>(
      `SELECT (SELECT count(*) FROM responses) AS responses, (SELECT count(*) FROM logged_contents) AS contents,
        (SELECT coalesce(sum(length(sealed)), 0) FROM response_parts)
        + (SELECT coalesce(sum(length(sealed)), 0) FROM logged_contents)
        + (SELECT coalesce(sum(length(sealed)), 0) FROM export_contents) AS sealedBytes`,
    )
    .get()
  return row ?? { responses: 0, contents: 0, sealedBytes: 0 }
}

/** Without the key only the form can be seen: nothing may lie there in clear, and each belongs to a generation. */
function unsealed({ file }: Database): string[] {
  return file
    .query<{ id: string; isSealed: 0 | 1 }, [number, number]>(
      `SELECT id, isSealed FROM (
        SELECT generation_id AS id, unhex(printf('%02x', ?1)) = substr(sealed, 1, 1) AND length(sealed) > ?2 AS isSealed,
          generation_id GLOB 'gen-*' AND workspace_id <> '' AND clear_bytes > 0 AS isWhole FROM logged_contents
      ) WHERE NOT isSealed OR NOT isWhole`,
    )
    .all(SEALED_VERSION, SEALED_OVERHEAD_BYTES)
    .map(({ id, isSealed }) =>
      isSealed === 1 ? `content ${id}: it belongs to no generation` : `content ${id}: it is not sealed`,
    )
}

function openItems({ file }: Database, table: string, key: string, what: string): string[] {
  return file
    .query<{ id: string }, [number, number]>(
      `SELECT ${key} AS id FROM ${table}
        WHERE unhex(printf('%02x', ?1)) <> substr(sealed, 1, 1) OR length(sealed) <= ?2`,
    )
    .all(SEALED_VERSION, SEALED_OVERHEAD_BYTES)
    .map(({ id }) => `${what} ${id}: it is not sealed`)
}

function incomplete({ file }: Database): string[] {
  const lacking = file
    .query<{ id: string }, []>(
      `SELECT id FROM responses WHERE 2 <>
        (SELECT count(*) FROM response_parts WHERE response_id = id AND part IN ('reply', 'input'))`,
    )
    .all()
    .map(({ id }) => `response ${id}: its contents are missing`)
  const known = RESPONSE_STATUSES.map((status) => `'${status}'`).join(', ')
  const strange = file
    .query<{ id: string }, []>(`SELECT id FROM responses WHERE status NOT IN (${known})`)
    .all()
    .map(({ id }) => `response ${id}: its status is unknown`)
  return [...lacking, ...strange]
}

export function formatBodies({
  path,
  responses,
  contents,
  sealedBytes,
  differences,
}: BodiesReport): string[] {
  const what = `${responses} stored responses, ${contents} logged contents, ${sealedBytes} bytes sealed`
  return withVerdict(path, what, differences)
}
