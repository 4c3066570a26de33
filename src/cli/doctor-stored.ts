import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listCredentials } from '../admin/providers/service.ts'
import { type LeftOut, storedProviders } from '../admin/providers/stored.ts'
import type { Config } from '../config.ts'
import type { ProviderRecord } from '../core/snapshot.ts'
import { DATABASE_FILE, openForReading } from '../db/database.ts'
import { makeSealer, parseSecretKey } from '../db/seal.ts'
import type { ProviderDefaults } from '../providers/environment.ts'

export interface Stored {
  /** Their credentials' ids are labels. */
  readonly providers: readonly ProviderRecord[]
  readonly leftOut: readonly LeftOut[]
}

const NOTHING: Stored = { providers: [], leftOut: [] }

/** The stored credentials, read without a lock. Empty if they cannot be read: other checks report why. */
export async function readStored(config: Config, defaults: ProviderDefaults): Promise<Stored> {
  const file = join(config.data, DATABASE_FILE)
  if (!existsSync(file)) return NOTHING
  try {
    const key = config.secretKey ?? readKeyFile(config.data)
    const database = openForReading(file)
    try {
      const labels = new Map((await listCredentials(database)).map(({ id, label }) => [id, label]))
      const { providers, leftOut } = storedProviders(database, makeSealer(key), defaults)
      return { providers: providers.map((provider) => labelled(provider, labels)), leftOut }
    } finally {
      database.close()
    }
  } catch {
    return NOTHING
  }
}

/** Reads the file without changing it. (The server would correct its permissions.) */
export function readKeyFile(folder: string): Uint8Array {
  const path = join(folder, 'secret.key')
  return parseSecretKey(readFileSync(path, 'utf8'), path)
}

const labelled = (provider: ProviderRecord, labels: ReadonlyMap<string, string>): ProviderRecord => ({
  ...provider,
  credentials: provider.credentials.map(({ id, secret }) => ({
    id: `the stored ${labels.get(id) ?? id}`,
    secret,
  })),
})
