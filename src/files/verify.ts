import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { withVerdict } from '../core/verdict.ts'
import { openForReading } from '../db/database.ts'

export interface FilesReport {
  path: string
  files: number
  bytes: number
  /** One sentence per problem; empty if there is none. */
  differences: string[]
}

interface Known {
  id: string
  size: number
}

/**
 * Checks that every uploaded file of the ledger exists with its size. Only reads. Null if the folder is missing and the
 * ledger names no file: a copy of the database alone.
 */
export function verifyFiles(databasePath: string, folder: string): FilesReport | null {
  const database = openForReading(databasePath)
  try {
    const { file } = database
    const rows = file.query<Known, []>('SELECT id, size_bytes AS size FROM files').all()
    if (!existsSync(folder) && rows.length === 0) return null
    const isStillNamed = (id: string): boolean =>
      file.query('SELECT 1 FROM files WHERE id = ?').get(id) !== null
    const report: FilesReport = { path: folder, files: rows.length, bytes: 0, differences: [] }
    for (const { id, size } of rows) {
      const found = statSync(join(folder, id), { throwIfNoEntry: false })?.size
      report.bytes += found ?? 0
      if (found === size) continue
      // Deleted this moment: the row goes before the bytes.
      if (found === undefined && !isStillNamed(id)) continue
      report.differences.push(
        found === undefined
          ? `file ${id}: its bytes are not there`
          : `file ${id}: ${found} bytes are there, and ${size} were uploaded`,
      )
    }
    return report
  } finally {
    database.close()
  }
}

export const formatFiles = ({ path, files, bytes, differences }: FilesReport): string[] =>
  withVerdict(path, `${files} uploaded files, ${bytes} bytes`, differences)
