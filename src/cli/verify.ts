import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { settings } from '../config.ts'
import { DATABASE_FILE } from '../db/database.ts'
import { sayReport, verifyFile } from '../ledger/verify.ts'
import { CommandError, EXIT, printJson, type Terminal } from './terminal.ts'

/** Needs no key, setting or lock: only a data folder (or its database file) that can be read. */
export async function verifyCommand(
  folder: string | undefined,
  isJson: boolean,
  terminal: Terminal,
): Promise<number> {
  const report = verifyFile(
    databaseIn(folder ?? (terminal.environment['SLUICE_DATA'] || settings.data.fallback)),
  )
  if (isJson) printJson(terminal, { ok: report.differences.length === 0, ...report })
  else for (const line of sayReport(report)) terminal.print(line)
  return report.differences.length === 0 ? EXIT.ok : EXIT.failed
}

function databaseIn(folder: string): string {
  const path = resolve(folder)
  const file = existsSync(path) && statSync(path).isDirectory() ? join(path, DATABASE_FILE) : path
  if (!existsSync(file))
    throw new CommandError(EXIT.notFound, `There is no database at ${file}: name the data folder`)
  return file
}
