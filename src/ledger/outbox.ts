import type { Settlement } from '../core/generation.ts'
import type { Database } from '../db/database.ts'
import { MOST_OF_ROW, type OutboxGeneration } from '../db/export-tables.ts'
import { prepareRows } from '../db/hot-rows.ts'

/** A settled generation for the outbox, as JSON; null: no destination takes it. */
export const outboxText = ({ generationId, workspaceId, exported }: Settlement): string | null =>
  exported === undefined
    ? null
    : JSON.stringify({ id: generationId, workspace: workspaceId, note: exported } satisfies OutboxGeneration)

/** Prepares the insert of what one commit settled, inside the caller's transaction. `texts`: at least one. */
export function prepareOutbox(database: Database, now: () => number): (texts: readonly string[]) => void {
  const insert = prepareRows(database, 'export_outbox', ['committed_at', 'entries', 'generations'], '')
  return (texts) => {
    const at = now()
    for (let from = 0; from < texts.length; from += MOST_OF_ROW) {
      const some = texts.slice(from, from + MOST_OF_ROW)
      insert([at, some.length, `[${some.join(',')}]`])
    }
  }
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
