import type { Database } from '../db/database.ts'
import { type Book, type DeliveryEvent, openBook } from './book.ts'
import { endOfOutbox, readCursor } from './cursors.ts'
import type { StoredDestination } from './stored.ts'

export interface SyncOptions {
  readonly database: Database
  /** The destinations of these workspaces; without `workspaceIds` all. */
  destinations(workspaceIds?: ReadonlySet<string>): StoredDestination[]
  /** For the audit log. */
  onEvent(event: DeliveryEvent): void
}

/** Ends the pause in the book; null: it was not paused. */
export function resumed(book: Book | undefined): DeliveryEvent | null {
  if (book === undefined || book.row.paused_at === null) return null
  book.row = { ...book.row, paused_at: null }
  book.standing = 'delivering'
  return { verb: 'resume', destination: book.destination, details: {} }
}

/**
 * Brings the books up to date with the stored destinations, of these workspaces alone if they are given. Returns the changed
 * ones; null: nothing has changed.
 */
export function sync(
  { database, destinations, onEvent }: SyncOptions,
  books: Map<string, Book>,
  workspaceIds?: ReadonlySet<string>,
): string[] | null {
  const stored = destinations(workspaceIds)
  const ids = new Set(stored.map(({ id }) => id))
  const isRead = ({ destination: { workspaceId } }: Book): boolean =>
    workspaceIds === undefined || (workspaceId !== null && workspaceIds.has(workspaceId))
  const gone = [...books].flatMap(([id, book]) => (ids.has(id) || !isRead(book) ? [] : [id]))
  for (const id of gone) books.delete(id)
  const changed: string[] = []
  for (const { id, version, open } of stored) {
    const book = books.get(id)
    if (book?.version === version) continue
    const destination = open()
    if (destination !== null || books.delete(id)) changed.push(id)
    if (destination === null) continue
    if (book === undefined) {
      books.set(id, openBook(destination, version, readCursor(database, id)))
      continue
    }
    const event = resumed(book)
    if (event !== null) onEvent(event)
    // What was settled while it was disabled is not sent.
    const isEnabled = destination.enabled && !book.destination.enabled
    if (isEnabled) book.row = { ...book.row, position: endOfOutbox(database) }
    book.standing = destination.enabled ? 'delivering' : 'disabled'
    Object.assign(book, { destination, version, isDirty: true } satisfies Partial<Book>)
  }
  return changed.length + gone.length === 0 ? null : changed
}
