import type { SqliteFile } from '../db/database.ts'
import { type Database, transact } from '../db/database.ts'
import { type Bookings, prepareBookings } from './bookings.ts'
import type { CounterKey, Spent } from './counter-key.ts'
import { type LabelBounds, prepareBounds } from './label-bounds.ts'
import { type LabelSums, prepareLabels } from './labels.ts'
import { prepareRollups, type Rollups } from './rollups.ts'
import { type StoredSummed, SUMMED_COLUMNS, type Summed, summedOf } from './summed.ts'

/**
 * Updates the sums of rows (counters, hours, days, labels). A commit writes only rows; the sums follow later,
 * in a transaction that moves a watermark with them. A row behind the watermark is in the sums, a row after it is not:
 * whenever the process dies, no row is lost and none is summed twice.
 */
export interface Folding {
  /** What labels rows may have: those that have a sum, and those that still get one. */
  readonly bounds: LabelBounds
  /** Adds a committed row to the sums in memory. */
  add(row: Summed): void
  /** A commit failed, and may have been written all the same: the next fold reads the rows from the table. */
  doubt(): void
  /** A row was added to the journal: its deletion belongs to the fold. */
  journaled(): void
  /** So many rows or lines wait that they are to be folded now. */
  isDue(): boolean
  /** No committed row waits. */
  isEmpty(): boolean
  /** Committed spending of a counter that is not in the table yet. */
  unfolded(key: CounterKey): Spent
  /** Folds what waits, in a transaction of its own. Throws what the database throws, with nothing changed. */
  fold(): void
  /** Folds all rows after the watermark inside the caller's transaction; `forget` follows once it is committed. */
  foldWithin(): void
  forget(): void
}

/** The most waiting rows and lines: a fold takes at most some milliseconds. */
const MOST_ROWS = 1000
const MOST_LINES = 150
/** Rows that are read from the table at a time. */
const ROWS_A_READ = 1000

/** Prepares the statements. The first fold reads the rows of an earlier process. */
export function prepareFolding(database: Database): Folding {
  const { file } = database
  const begin = prepareSums(database)
  const bounds = prepareBounds(database)
  const table = prepareWatermark(file)
  let sums = begin()
  let rows = 0
  let isDoubtful = true
  let hasJournal = true

  function write(): void {
    const { last, behind } = table.read()
    if (isDoubtful || behind !== rows) foldAfter(last)
    else sums.write()
    finish()
  }

  /** Sums the stored rows, because memory may not have all of them. */
  function foldAfter(last: number): void {
    for (let from = last; ; ) {
      const read = table.rowsAfter(from, ROWS_A_READ)
      const [newest] = read.slice(-1)
      if (newest === undefined) break
      const some = begin()
      for (const row of read) some.add(summedOf(row))
      some.write()
      from = newest.row
    }
  }

  function finish(): void {
    if (hasJournal) table.clearJournal()
    table.moveToEnd()
  }

  function forget(): void {
    sums = begin()
    rows = 0
    isDoubtful = false
    hasJournal = hasJournal && table.hasJournal()
    bounds.folded()
  }

  return {
    bounds,
    add(row) {
      sums.add(row)
      rows += 1
    },
    doubt() {
      isDoubtful = true
    },
    journaled() {
      hasJournal = true
    },
    isDue: () => rows >= MOST_ROWS || sums.lines() >= MOST_LINES,
    isEmpty: () => rows === 0 && !isDoubtful,
    unfolded: (key) => sums.spent(key),
    fold() {
      try {
        transact(file, write)
      } catch (error) {
        isDoubtful = true
        throw error
      }
      forget()
    },
    foldWithin() {
      foldAfter(table.read().last)
      finish()
    },
    forget,
  }
}

interface Sums {
  add(row: Summed): void
  spent(key: CounterKey): Spent
  lines(): number
  write(): void
}

function prepareSums(database: Database): () => Sums {
  const beginBookings = prepareBookings(database)
  const beginRollups = prepareRollups(database)
  const beginLabels = prepareLabels(database)
  return () => {
    const bookings: Bookings = beginBookings()
    const rollups: Rollups = beginRollups()
    const labels: LabelSums = beginLabels()
    return {
      add(row) {
        bookings.add(row)
        rollups.add(row)
        labels.add(row)
      },
      spent: bookings.spent,
      lines: () => bookings.count() + rollups.count() + labels.count(),
      write() {
        bookings.write()
        rollups.write()
        labels.write()
      },
    }
  }
}

/** The statements around the watermark. Row ids of `generations` count up in the order of commits. */
function prepareWatermark(file: SqliteFile) {
  const read = file.prepare<{ last: number; behind: number }, []>(
    `SELECT last_row AS last, (SELECT count(*) FROM generations WHERE rowid > last_row) AS behind FROM folded`,
  )
  const after = file.prepare<StoredSummed & { row: number }, [number, number]>(
    `SELECT rowid AS row, ${SUMMED_COLUMNS} FROM generations WHERE rowid > ? ORDER BY rowid LIMIT ?`,
  )
  const clear = file.prepare(
    `DELETE FROM journal WHERE generation_id IN
       (SELECT id FROM generations WHERE rowid > (SELECT last_row FROM folded))`,
  )
  const move = file.prepare('UPDATE folded SET last_row = (SELECT coalesce(max(rowid), 0) FROM generations)')
  const journal = file.prepare('SELECT 1 FROM journal LIMIT 1')
  return {
    read() {
      const found = read.get()
      if (found === null)
        throw new Error('the table "folded" has lost its row: put a copy of the database back')
      return found
    },
    rowsAfter: (row: number, most: number) => after.all(row, most),
    /** Deletes the journal rows of generations after the watermark. */
    clearJournal: () => clear.run(),
    moveToEnd: () => move.run(),
    hasJournal: () => journal.get() !== null,
  }
}
