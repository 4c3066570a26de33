/** Generations on their way to destinations of observability: see tables.ts. */
import { and, eq, inArray } from 'drizzle-orm'
import type { ExportNote } from '../core/export-note.ts'
import { integer, json, serial, table, timestamp } from './columns.ts'
import type { Database } from './database.ts'
import { destinations } from './destinations.ts'
import { workspaces } from './workspaces.ts'

/** One settled generation in a row of the outbox. */
export interface OutboxGeneration {
  readonly id: string
  readonly workspace: string
  readonly note: ExportNote
}

/**
 * What a commit of the ledger settled, of workspaces with destinations: one row, in the transaction of the generations'
 * rows. A row is deleted once every destination has passed it.
 */
export const exportOutbox = table('export_outbox', {
  /** In the order of commits; never used twice. Neither ids nor row ids have this order for ever. */
  seq: serial(),
  committed_at: timestamp().notNull(),
  /** Number of generations, at most `MOST_OF_ROW`. */
  entries: integer().notNull(),
  generations: json<readonly OutboxGeneration[]>().notNull(),
  /** How many of them each workspace has; null: a row of an older version. */
  workspaces: json<Readonly<Record<string, number>>>(),
})

/** The most generations of a row. The position of one is the row's `seq` times this, plus its place in the row. */
export const MOST_OF_ROW = 64

/**
 * The workspaces whose generations go to destinations, and whether one of those may have the content; of `ids` alone if
 * there are any.
 */
export function exportsOf(
  { sync }: Pick<Database, 'sync'>,
  ids?: readonly string[],
): ReadonlyMap<string, { readonly content: boolean }> {
  const rows = sync
    .select({ id: destinations.workspace_id, isPrivate: destinations.privacy_mode })
    .from(destinations)
    .innerJoin(workspaces, eq(workspaces.id, destinations.workspace_id))
    .where(
      and(
        eq(destinations.enabled, true),
        eq(workspaces.is_observability_broadcast_enabled, true),
        ids && inArray(destinations.workspace_id, [...ids]),
      ),
    )
    .all()
  const found = new Map<string, { readonly content: boolean }>()
  for (const { id, isPrivate } of rows)
    found.set(id, { content: found.get(id)?.content === true || !isPrivate })
  return found
}
