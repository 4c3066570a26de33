import type { ReplayRow } from '../db/delivery-tables.ts'
import { type Book, takeReport } from './book.ts'
import { endOfOutbox } from './cursors.ts'
import type { EngineLane } from './engine.ts'
import { createFlusher, FLUSH_MS, type FlusherOptions } from './flusher.ts'
import { createLink } from './link.ts'
import type { Opening, ToWorker } from './messages.ts'
import type { Report } from './report.ts'
import { resumed, type SyncOptions, sync } from './sync.ts'

export interface DeliveryOptions extends SyncOptions, FlusherOptions {
  readonly opening: Opening
  /** Milliseconds since 1970. */
  now(): number
  /** For the log. */
  onCrash(error: unknown, retryMs: number): void
}

/** The delivery to observability destinations, seen from the main thread, which alone writes to the database. */
export interface Delivery {
  /** Begins to deliver. Before, destinations can be changed and generations wait for them. */
  start(): void
  /** Reads the destinations of these workspaces again, without them all. Call in the turn of the commit that wrote them. */
  applyChanges(workspaceIds?: ReadonlySet<string>): void
  /** A commit has written to the outbox. */
  committed(): void
  bookOf(destinationId: string): Book | undefined
  books(): readonly Book[]
  /** Stores what was reported. */
  flush(): void
  /** Ends a pause. */
  resume(destinationId: string): void
  /** Drops all that waits. */
  discard(destinationId: string): void
  /** Delivers generations of the ledger once more; null ends it. */
  replay(destinationId: string, replay: { from: number; to: number; position: number } | null): void
  /** Ends within a bounded time. What is not delivered by then is delivered by the next process. */
  close(): Promise<void>
}

/** The thread gets one message for the commits of this time. */
const WAKE_MS = 100
const CLOSE_MS = 5_000

export function createDelivery(options: DeliveryOptions): Delivery {
  const { now, onEvent } = options
  const books = new Map<string, Book>()
  const flusher = createFlusher(options, books)
  const link = createLink({
    opening: options.opening,
    lanes: () => lanesMessage([...books.keys()]),
    onReports(reports) {
      for (const report of reports) take(options, books, report)
      flusher.later(FLUSH_MS)
    },
    onCrash: options.onCrash,
  })
  const wake = throttled(WAKE_MS, () => link.post({ kind: 'wake' }))
  let isStarted = false

  const lanesMessage = (changed: readonly string[]): ToWorker => ({
    kind: 'lanes',
    lanes: [...books.values()].map(laneOf),
    changed,
  })

  function applyChanges(workspaceIds?: ReadonlySet<string>): void {
    const changed = sync(options, books, workspaceIds)
    if (!isStarted || changed === null) return
    if (isNeeded(books)) {
      link.start()
      link.post(lanesMessage(changed))
    } else void link.stop(CLOSE_MS)
    flusher.later(FLUSH_MS)
  }

  /** Applies the stored state of a destination now, and notifies the thread. */
  function change(id: string, message: ToWorker, edit?: (book: Book) => void): void {
    const book = books.get(id)
    if (book === undefined) return
    edit?.(book)
    book.isDirty = true
    flusher.now()
    link.post(message)
  }

  return {
    applyChanges,
    committed: () => void (isStarted && wake.call()),
    start() {
      isStarted = true
      if (isNeeded(books)) link.start()
      flusher.later(FLUSH_MS)
    },
    bookOf: (id) => books.get(id),
    books: () => [...books.values()],
    flush: flusher.now,
    resume(id) {
      const event = resumed(books.get(id))
      if (event === null) return
      onEvent(event)
      change(id, { kind: 'resume', id })
    },
    discard(id) {
      if (link.post({ kind: 'discard', id })) return
      change(id, { kind: 'wake' }, (book) => dropWaiting(book, endOfOutbox(options.database)))
    },
    replay(id, range) {
      const replay = range && { ...range, id: now(), passed: 0 }
      change(id, { kind: 'replay', id, replay }, (book) => setReplay(book, replay))
    },
    close() {
      wake.cancel()
      return link.stop(CLOSE_MS).then(flusher.close)
    },
  }
}

function take({ now, onEvent }: DeliveryOptions, books: ReadonlyMap<string, Book>, report: Report): void {
  const book = books.get(report.destinationId)
  if (book !== undefined) for (const event of takeReport(book, report, now())) onEvent(event)
}

/** Without a thread that counts them, the number is what it reported last. */
function dropWaiting(book: Book, position: number): void {
  const { dropped } = book.row
  const discarded = (dropped?.['discarded'] ?? 0) + book.waiting.generations
  book.row = { ...book.row, position, dropped: { ...dropped, discarded } }
  book.waiting = { generations: 0, bytes: 0, oldestAt: null }
  book.isDirty = true
}

/** Null cancels the one that runs. */
function setReplay(book: Book, replay: Omit<ReplayRow, 'state'> | null): void {
  const former = book.row.replay
  const ended: ReplayRow | null = former?.state === 'running' ? { ...former, state: 'cancelled' } : former
  book.row = { ...book.row, replay: replay === null ? ended : { ...replay, state: 'running' } }
}

const isNeeded = (books: ReadonlyMap<string, Book>): boolean =>
  [...books.values()].some(({ destination }) => destination.enabled)

function laneOf({ destination, row }: Book): EngineLane {
  const { position, paused_at, replay } = row
  const isRunning = replay?.state === 'running'
  return {
    destination,
    position,
    from: position,
    isPaused: paused_at !== null,
    replay: isRunning ? replay : null,
  }
}

/** Calls `work` at once and then at most once in `ms`. */
function throttled(ms: number, work: () => void) {
  let timer: Timer | undefined
  let isAgain = false
  function end(): void {
    timer = undefined
    if (isAgain) call()
  }
  function call(): void {
    isAgain = timer !== undefined
    if (isAgain) return
    work()
    timer = setTimeout(end, ms)
    timer.unref()
  }
  return { call, cancel: () => clearTimeout(timer) }
}
