import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { sayBodies, verifyBodies } from '../bodies/verify.ts'
import { settings } from '../config.ts'
import { BODIES_FILE, DATABASE_FILE } from '../db/database.ts'
import { sayReport, verifyFile } from '../ledger/verify.ts'
import { CommandError, EXIT, printJson, type Terminal } from './terminal.ts'

/** Needs no key, setting or lock: only a data folder (or its database file) that can be read. */
export async function verifyCommand(
  folder: string | undefined,
  isJson: boolean,
  terminal: Terminal,
): Promise<number> {
  const path = databaseIn(folder ?? (terminal.environment['SLUICE_DATA'] || settings.data.fallback))
  const bodies = bodiesBeside(path)
  const report = verifyFile(path)
  const isOk = report.differences.length === 0 && (bodies?.differences ?? []).length === 0
  if (isJson) printJson(terminal, { ok: isOk, ...report, ...(bodies && { bodies }) })
  else for (const line of [...(bodies ? sayBodies(bodies) : []), ...sayReport(report)]) terminal.print(line)
  return isOk ? EXIT.ok : EXIT.failed
}

/** Another file than the folder's own, such as a copy, is looked at alone. */
const bodiesBeside = (path: string) =>
  basename(path) === DATABASE_FILE ? verifyBodies(join(dirname(path), BODIES_FILE)) : null

function databaseIn(folder: string): string {
  const path = resolve(folder)
  const file = existsSync(path) && statSync(path).isDirectory() ? join(path, DATABASE_FILE) : path
  if (!existsSync(file))
    throw new CommandError(EXIT.notFound, `There is no database at ${file}: name the data folder`)
  return file
}
