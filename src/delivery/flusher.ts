import type { Database } from '../db/database.ts'
import type { Book } from './book.ts'
import { deletePassed, writeCursors } from './cursors.ts'

export interface FlusherOptions {
  readonly database: Database
  /** Every destination has passed these: their content is deleted. */
  forgetContents(generationIds: readonly string[]): void
  onError(error: unknown): void
}

/** Cursors are stored together: a crash repeats what was delivered in this time. */
export const FLUSH_MS = 500
const MORE_MS = 20

/** Stores cursors, and deletes what every destination has passed. */
export function createFlusher(
  { database, forgetContents, onError }: FlusherOptions,
  books: ReadonlyMap<string, Book>,
) {
  let timer: Timer | undefined
  function store(): void {
    const dirty = [...books.values()].filter(({ isDirty }) => isDirty)
    if (dirty.length === 0) return
    writeCursors(database, dirty)
    for (const book of dirty) {
      book.isDirty = false
      book.setAside = []
    }
  }
  function now(): void {
    clearTimeout(timer)
    timer = undefined
    try {
      store()
      const { withContent, isMore } = deletePassed(database, passedBy(books))
      if (withContent.length > 0) forgetContents(withContent)
      if (isMore) later(MORE_MS)
    } catch (error) {
      onError(error)
      later(FLUSH_MS)
    }
  }
  function later(ms: number): void {
    timer ??= setTimeout(now, ms)
  }
  return {
    now,
    later,
    close() {
      clearTimeout(timer)
      try {
        store()
      } catch (error) {
        onError(error)
      }
    },
  }
}

/** What all destinations have passed; a disabled one keeps nothing. */
const passedBy = (books: ReadonlyMap<string, Book>): number =>
  Math.min(
    Number.MAX_SAFE_INTEGER,
    ...[...books.values()].filter(({ destination }) => destination.enabled).map(({ row }) => row.position),
  )
