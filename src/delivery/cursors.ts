import { desc, eq, sql } from 'drizzle-orm'
import { type Database, type Db, transact, type Write } from '../db/database.ts'
import { MOST_OF_ROW, type OutboxGeneration } from '../db/export-tables.ts'
import { exportCursors, exportFailed } from '../db/tables.ts'
import type { SetAside } from './report.ts'

export type CursorRow = typeof exportCursors.$inferSelect

// The connection of the server has a temporary table with a sequence as well, whose name would come first.
const OUTBOX_END = `coalesce((SELECT seq FROM main.sqlite_sequence WHERE name = 'export_outbox'), 0) * ${MOST_OF_ROW} + ${MOST_OF_ROW - 1}`

/** The position of the last generation that was committed, also if its row was deleted since. */
export const endOfOutbox = ({ file }: Database): number =>
  file.query<{ position: number }, []>(`SELECT ${OUTBOX_END} AS position`).get()?.position ?? 0

/** A new destination gets nothing that was settled before. In the transaction that creates it. */
export const beginCursor = (tx: Db, destinationId: string): Write =>
  tx
    .insert(exportCursors)
    .values({ destination_id: destinationId, position: sql`${sql.raw(OUTBOX_END)}`, dropped: {} })

/** In the transaction that deletes the destination. */
export const endCursor = (tx: Db, destinationId: string): Write[] => [
  tx.delete(exportCursors).where(eq(exportCursors.destination_id, destinationId)),
  tx.delete(exportFailed).where(eq(exportFailed.destination_id, destinationId)),
]

/** Reads the cursor of a destination, and begins it at the end of the outbox if it has none. */
export function readCursor({ sync }: Database, destinationId: string): CursorRow {
  const read = () =>
    sync.select().from(exportCursors).where(eq(exportCursors.destination_id, destinationId)).get()
  const known = read()
  if (known !== undefined) return known
  const position = sql`${sql.raw(OUTBOX_END)}`
  sync.insert(exportCursors).values({ destination_id: destinationId, position, dropped: {} }).run()
  const row = read()
  if (row === undefined) throw new Error('the cursor of a destination was not stored')
  return row
}

/** The most set-aside generations of a destination that are kept. */
const MOST_FAILED = 1_000

export interface CursorWrite {
  readonly row: CursorRow
  readonly setAside: readonly SetAside[]
}

/** Stores cursors with what was set aside. A destination that was deleted meanwhile is not stored again. */
export function writeCursors(database: Database, writes: readonly CursorWrite[]): void {
  const { file, sync } = database
  transact(file, () => {
    for (const { row, setAside } of writes) {
      const { destination_id: id, ...columns } = row
      sync.update(exportCursors).set(columns).where(eq(exportCursors.destination_id, id)).run()
      const rows = setAside.slice(-MOST_FAILED).map(({ generationId, at, status, message }) => ({
        destination_id: id,
        generation_id: generationId,
        failed_at: new Date(at),
        status,
        message,
      }))
      if (rows.length === 0) continue
      sync.insert(exportFailed).values(rows).run()
      const oldest = sync
        .select({ id: exportFailed.id })
        .from(exportFailed)
        .where(eq(exportFailed.destination_id, id))
        .orderBy(desc(exportFailed.id))
        .limit(1)
        .offset(MOST_FAILED)
        .get()
      if (oldest !== undefined)
        sync
          .delete(exportFailed)
          .where(sql`${exportFailed.destination_id} = ${id} AND ${exportFailed.id} <= ${oldest.id}`)
          .run()
    }
  })
}

/** Deleting takes its time from all requests. */
const ROWS_OF_DELETE = 500
const CHARACTERS_OF_DELETE = 500_000

export interface Passed {
  /** Generations whose content was to be stored for destinations. */
  readonly withContent: readonly string[]
  /** There may be more to delete. */
  readonly isMore: boolean
}

/** Deletes some rows of the outbox that every destination has passed. */
export function deletePassed({ file }: Database, position: number): Passed {
  const rows = file
    .query<{ seq: number; generations: string }, [number, number, number]>(
      `SELECT seq, generations FROM export_outbox WHERE seq <= ? AND seq * ${MOST_OF_ROW} + entries - 1 <= ? ORDER BY seq LIMIT ?`,
    )
    .iterate(Math.floor(position / MOST_OF_ROW), position, ROWS_OF_DELETE)
  const withContent: string[] = []
  let [newest, count, characters] = [0, 0, 0]
  for (const { seq, generations } of rows) {
    newest = seq
    count += 1
    characters += generations.length
    if (generations.includes('"content":true')) withContent.push(...idsWithContent(generations))
    if (characters > CHARACTERS_OF_DELETE) break
  }
  if (count === 0) return { withContent, isMore: false }
  file.query<unknown, [number]>('DELETE FROM export_outbox WHERE seq <= ?').run(newest)
  return { withContent, isMore: count === ROWS_OF_DELETE || characters > CHARACTERS_OF_DELETE }
}

function idsWithContent(generations: string): string[] {
  try {
    const read: readonly OutboxGeneration[] = JSON.parse(generations)
    return read.filter(({ note }) => note.content === true).map(({ id }) => id)
  } catch {
    return []
  }
}
