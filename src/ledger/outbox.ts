import type { Settlement } from '../core/generation.ts'
import type { Database } from '../db/database.ts'
import { MOST_OF_ROW, type OutboxGeneration } from '../db/export-tables.ts'
import { prepareRows } from '../db/hot-rows.ts'

/** A settled generation for the outbox, as JSON; null: no destination takes it. */
export const outboxText = ({ generationId, workspaceId, exported }: Settlement): string | null =>
  exported === undefined
    ? null
    : JSON.stringify({ id: generationId, workspace: workspaceId, note: exported } satisfies OutboxGeneration)

/** A settled generation on its way to the outbox. */
export interface OutboxText {
  readonly workspaceId: string
  /** Of `outboxText`. */
  readonly text: string
}

/** Prepares the insert of what one commit settled, inside the caller's transaction. `all`: at least one. */
export function prepareOutbox(database: Database, now: () => number): (all: readonly OutboxText[]) => void {
  const insert = prepareRows(
    database,
    'export_outbox',
    ['committed_at', 'entries', 'generations', 'workspaces'],
    '',
  )
  return (all) => {
    const at = now()
    for (let from = 0; from < all.length; from += MOST_OF_ROW) {
      const some = all.slice(from, from + MOST_OF_ROW)
      const generations = `[${some.map(({ text }) => text).join(',')}]`
      insert([at, some.length, generations, JSON.stringify(countsOf(some))])
    }
  }
}

function countsOf(all: readonly OutboxText[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { workspaceId } of all) counts[workspaceId] = (counts[workspaceId] ?? 0) + 1
  return counts
}

export interface OutboxRow {
  readonly seq: number
  /** Milliseconds since 1970. */
  readonly committedAt: number
  /** JSON. */
  readonly generations: string
}

/** The first row of the outbox from `seq` on, in the order of commits. */
export const outboxRow = ({ file }: Pick<Database, 'file'>, seq: number): OutboxRow | null =>
  file
    .query<OutboxRow, [number]>(
      'SELECT seq, committed_at AS committedAt, generations FROM export_outbox WHERE seq >= ? ORDER BY seq LIMIT 1',
    )
    .get(seq)
