import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatUsd } from '../core/money.ts'
import { withVerdict } from '../core/verdict.ts'
import { DATABASE_FILE, type Database, isClosedToUs, openForReading, unreadable } from '../db/database.ts'
import { appliedTags, newestTag } from '../db/migrations.ts'
import { compareCounters, compareDays, compareHours, compareLabels } from './recount.ts'

export interface VerifyReport {
  path: string
  /** Stored rows. */
  generations: number
  /** Those of them that are not in the sums yet: the server adds them within a second, or at its next start. */
  unfolded: number
  /** Deleted rows whose sums remain. */
  pruned: number
  /** The sum of all rows, including pruned ones and BYOK spending. */
  spentNanoUsd: number
  counters: number
  hours: number
  days: number
  labels: number
  /** One sentence each; empty when everything agrees to the nano-dollar. */
  differences: string[]
}

/**
 * Recomputes every counter, every hourly sum and every sum of labels from the rows, every daily sum from the hours, and
 * compares them. Only reads: the file may be served, stopped or a copy, and needs no lock, key or setting. Throws a plain
 * sentence if the file cannot be read at all.
 */
export function verifyFile(path: string): VerifyReport {
  if (!existsSync(path)) throw new Error(`There is no database at ${path}`)
  const { database, close } = openAnyhow(path)
  try {
    return verifyLedger(database, path)
  } finally {
    close()
  }
}

const COMPARISONS = [
  ['counters', compareCounters],
  ['hours', compareHours],
  ['days', compareDays],
  ['labels', compareLabels],
] as const

/** The database of a data folder: see `verifyFile`. */
export const verifyFolder = (folder: string): VerifyReport => verifyFile(join(folder, DATABASE_FILE))

export function verifyLedger(database: Database, path = database.path): VerifyReport {
  const { file } = database
  refuseOtherSchema(database, path)
  const report: VerifyReport = {
    path,
    generations: 0,
    unfolded: 0,
    pruned: 0,
    spentNanoUsd: 0,
    counters: 0,
    hours: 0,
    days: 0,
    labels: 0,
    differences: [],
  }
  // One transaction, so that a running server does not change the data during the comparison.
  file.run('BEGIN')
  try {
    report.differences.push(...damage(database))
    Object.assign(report, totals(database))
    report.differences.push(...duplicates(database))
    for (const [name, compare] of COMPARISONS) {
      const { compared, differences } = compare(database)
      report[name] = compared
      report.differences.push(...differences)
    }
  } catch (cause) {
    report.differences.push(`the file cannot be read to its end: ${String(cause)}`)
  } finally {
    if (file.inTransaction) file.run('ROLLBACK')
  }
  return report
}

export function formatReport(report: VerifyReport): string[] {
  const { differences, generations, unfolded, pruned, counters, hours, spentNanoUsd } = report
  const waiting = unfolded === 0 ? '' : `, ${unfolded} of them not in the sums yet`
  const rows = `${generations} generations${waiting}${pruned === 0 ? '' : ` and ${pruned} that were pruned`}`
  const what = `${rows}, ${counters} counters and ${hours} hourly sums, ${formatUsd(spentNanoUsd)} in all`
  return withVerdict(report.path, what, differences, '; everything agrees to the nano-dollar')
}

/** A file in WAL mode cannot be opened in a folder that may not be written: then a copy of it is read. */
function openAnyhow(path: string): { database: Database; close(): void } {
  try {
    const database = openForReading(path)
    return { database, close: database.close }
  } catch (cause) {
    if (!(cause instanceof Error && isClosedToUs(cause.cause))) throw cause
  }
  const folder = mkdtempSync(join(tmpdir(), 'sluice-verify-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const copy = join(folder, 'copy.db')
    copyFileSync(path, copy)
    if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`)
    const database = openForReading(copy)
    return {
      database,
      close() {
        database.close()
        remove()
      },
    }
  } catch (cause) {
    remove()
    throw unreadable(path, cause)
  }
}

function refuseOtherSchema(database: Database, path: string): void {
  const last = appliedTags(database.file).at(-1)
  if (last === newestTag()) return
  throw new Error(
    last === undefined
      ? `The file ${path} is not a Sluice database`
      : `The database ${path} has the schema ${last}, and this version of Sluice verifies ${newestTag()}`,
  )
}

function damage({ file }: Database): string[] {
  return file
    .query<{ integrity_check: string }, []>('PRAGMA integrity_check(20)')
    .all()
    .map((row) => row.integrity_check)
    .filter((line) => line !== 'ok')
    .map((line) => `the file is damaged: ${line}`)
}

function totals({
  file,
}: Database): Pick<VerifyReport, 'generations' | 'unfolded' | 'pruned' | 'spentNanoUsd'> {
  const row = file
    .query<{ n: number; spent: number }, []>(
      'SELECT count(*) AS n, coalesce(sum(cost_nano_usd), 0) AS spent FROM generations',
    )
    .get()
  const behind = file
    .query<{ n: number }, []>(
      'SELECT count(*) AS n FROM generations WHERE rowid > (SELECT last_row FROM folded)',
    )
    .get()
  const gone = file
    .query<{ n: number; spent: number }, []>(
      `SELECT coalesce(sum(requests), 0) AS n, coalesce(sum(usage_nano_usd + byok_usage_nano_usd), 0) AS spent
       FROM pruned_hourly`,
    )
    .get()
  return {
    generations: row?.n ?? 0,
    unfolded: behind?.n ?? 0,
    pruned: gone?.n ?? 0,
    spentNanoUsd: (row?.spent ?? 0) + (gone?.spent ?? 0),
  }
}

/** Read past the indexes that should make them impossible. */
function duplicates({ file }: Database): string[] {
  const twice = file
    .query<{ id: string; n: number }, []>(
      'SELECT id, count(*) AS n FROM generations NOT INDEXED GROUP BY +id HAVING count(*) > 1',
    )
    .all()
    .map((row) => `generation ${row.id}: settled ${row.n} times`)
  const both = file
    .query<{ id: string }, []>(
      // The fold that adds a generation to the sums takes it out of the journal.
      `SELECT generation_id AS id FROM journal WHERE generation_id IN
         (SELECT id FROM generations WHERE rowid <= (SELECT last_row FROM folded))`,
    )
    .all()
    .map((row) => `generation ${row.id}: settled, and still in the journal`)
  return [...twice, ...both]
}
