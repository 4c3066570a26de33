/** For commands that use the data folder of a stopped server. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, loadConfig } from '../config.ts'
import { DATABASE_FILE } from '../db/database.ts'
import { type DataFolder, openDataFolder } from '../server/data-folder.ts'
import { CommandError, EXIT, type Terminal } from './terminal.ts'

export type Options = Readonly<Record<string, unknown>>

/** `--data` and `--config` take precedence over the environment. */
export const configOf = (options: Options, terminal: Terminal): Promise<Config> => {
  const { data, config } = options
  return loadConfig({
    environment: terminal.environment,
    flags: {
      ...(typeof data === 'string' ? { data } : {}),
      ...(typeof config === 'string' ? { config } : {}),
    },
  })
}

/** Opens an existing folder. A missing one is not created, because its name is probably mistyped. */
export function openKnownFolder({ data }: Config): DataFolder {
  const file = join(data, DATABASE_FILE)
  if (!existsSync(file))
    throw new CommandError(EXIT.notFound, `There is no database at ${file}: name the data folder with --data`)
  return openDataFolder(data)
}

/** Closes the folder in every case. */
export async function within<T>(folder: DataFolder, work: (folder: DataFolder) => Promise<T>): Promise<T> {
  try {
    return await work(folder)
  } finally {
    folder.close()
  }
}
