import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface Migration {
  /** `0000_first`: they are applied in the order of these. */
  tag: string
  statements: string[]
}

/** A folder of `drizzle/`: the ledger and the administration, or the sealed bodies, in one SQL dialect. */
export type MigrationsFolder = 'sqlite' | 'postgres' | 'bodies-sqlite' | 'bodies-postgres'

/** A Bun macro: runs when the module that imports it is bundled or loaded, so the SQL travels inside the binary. */
export function readMigrations(of: MigrationsFolder): Migration[] {
  const folder = fileURLToPath(new URL(`../../drizzle/${of}/`, import.meta.url))
  const listing: { entries: { tag: string }[] } = JSON.parse(
    readFileSync(`${folder}meta/_journal.json`, 'utf8'),
  )
  return listing.entries.map(({ tag }) => ({
    tag,
    statements: readFileSync(`${folder}${tag}.sql`, 'utf8').split('--> statement-breakpoint'),
  }))
}
