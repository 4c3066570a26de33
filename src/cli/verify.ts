import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { formatBodies, verifyBodies } from '../bodies/verify.ts'
import { settings } from '../config.ts'
import { BODIES_FILE, DATABASE_FILE } from '../db/database.ts'
import { FILES_FOLDER } from '../files/store.ts'
import { formatFiles, verifyFiles } from '../files/verify.ts'
import { formatReport, verifyFile } from '../ledger/verify.ts'
import { CommandError, EXIT, printJson, type Terminal } from './terminal.ts'

/** Requires no key, setting or lock, only read access to a data folder or its database file. */
export async function verifyCommand(
  folder: string | undefined,
  isJson: boolean,
  terminal: Terminal,
): Promise<number> {
  const verdict = verifyAll(databaseIn(folder ?? dataFolder(terminal)))
  if (isJson) printJson(terminal, verdict.json)
  else for (const line of verdict.lines) terminal.print(line)
  return verdict.isOk ? EXIT.ok : EXIT.failed
}

/** The data folder that the environment names, else the usual one. */
export const dataFolder = (terminal: Terminal, option?: unknown): string =>
  resolve(typeof option === 'string' ? option : terminal.environment['SLUICE_DATA'] || settings.data.fallback)

export interface Verdict {
  readonly isOk: boolean
  readonly json: Readonly<Record<string, unknown>>
  /** The ledger's own summary last. */
  readonly lines: readonly string[]
}

/** Checks the ledger and the other files of its folder. A file outside a data folder, such as a copy, is checked alone. */
export function verifyAll(path: string): Verdict {
  const isFolders = basename(path) === DATABASE_FILE
  const bodies = isFolders ? verifyBodies(join(dirname(path), BODIES_FILE)) : null
  const report = verifyFile(path)
  const files = isFolders ? verifyFiles(path, join(dirname(path), FILES_FOLDER)) : null
  const isOk = [report, bodies, files].every((each) => (each?.differences ?? []).length === 0)
  return {
    isOk,
    json: { ok: isOk, ...report, ...(bodies && { bodies }), ...(files && { files }) },
    lines: [
      ...(bodies ? formatBodies(bodies) : []),
      ...(files ? formatFiles(files) : []),
      ...formatReport(report),
    ],
  }
}

export function databaseIn(folder: string): string {
  const path = resolve(folder)
  const file = existsSync(path) && statSync(path).isDirectory() ? join(path, DATABASE_FILE) : path
  if (!existsSync(file))
    throw new CommandError(EXIT.notFound, `There is no database at ${file}: name the data folder`)
  return file
}
