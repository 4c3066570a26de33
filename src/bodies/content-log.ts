import type { ContentLog, EndedContent } from '../core/generation-content.ts'
import { turnOfLoop } from '../core/turn.ts'
import type { ContentRow, ContentStore } from './contents.ts'
import { createWriteQueue } from './write-queue.ts'

export interface ContentLogOptions {
  store: ContentStore
  /** Contents dropped since the last call, because the queue was full. */
  onDropped(contents: number): void
  /** Contents lost since the last call, because they could not be written; the error of the last one. */
  onLost(error: unknown, contents: number): void
  /** Called after each write: the file may have grown beyond its bound. Never rejects. */
  onWritten(): Promise<void>
  /** The most bytes that may wait in memory. */
  mostBytes?: number
}

/** Some hundreds of long conversations. If the disk is slower than that for a while, further contents are dropped. */
const MOST_BYTES = 64 * 1024 * 1024
const GATHER_MS = 50
/** Dropped contents are reported at once, and then at most this often. */
const REPORT_EVERY_MS = 10_000
/** Memory of one content in addition to its text. */
const OVERHEAD_BYTES = 512

/**
 * The queue between answers and the file. An answer only leaves a reference here; assembling the content, packing,
 * sealing and writing happen later, with a turn of the event loop between any two contents.
 */
export function createContentLog(options: ContentLogOptions): ContentLog {
  const { store, mostBytes = MOST_BYTES, onWritten } = options
  const losses = createLossReport(options)
  const queue = createWriteQueue<EndedContent>({
    bytesOf: ({ weight }) => weight + OVERHEAD_BYTES,
    mostBytes,
    gatherMs: GATHER_MS,
    async write(batch) {
      await writeBatch(batch)
      losses.report()
    },
  })

  async function writeBatch(batch: readonly EndedContent[]): Promise<void> {
    const rows: ContentRow[] = []
    for (const content of batch) {
      try {
        rows.push(await store.seal(content))
      } catch (error) {
        losses.lost(error, 1)
      }
      await turnOfLoop()
    }
    if (rows.length === 0) return
    try {
      await store.write(rows)
    } catch (error) {
      return losses.lost(error, rows.length)
    }
    await onWritten()
  }

  return {
    add(content) {
      if (!queue.add(content.generationId, content)) losses.dropped()
    },
    async find(generationId, workspaceId) {
      const content = queue.get(generationId)
      if (content === undefined) return store.find(generationId, workspaceId)
      return content.workspaceId === workspaceId ? content.content() : null
    },
    async close() {
      await queue.flush()
      losses.report(true)
    },
  }
}

/** Counts contents that were not stored, and reports them now and then: a full disk must not log a line per batch. */
function createLossReport({ onDropped, onLost }: ContentLogOptions) {
  let dropped = 0
  let lost = 0
  let lastError: unknown
  let reportedAt = Number.NEGATIVE_INFINITY
  let timer: ReturnType<typeof setTimeout> | null = null

  function report(isLast = false): void {
    if (dropped + lost === 0) return
    const waitMs = reportedAt + REPORT_EVERY_MS - performance.now()
    if (waitMs > 0 && !isLast) {
      timer ??= setTimeout(() => {
        timer = null
        report()
      }, waitMs).unref()
      return
    }
    if (timer !== null) clearTimeout(timer)
    timer = null
    reportedAt = performance.now()
    if (dropped > 0) onDropped(dropped)
    if (lost > 0) onLost(lastError, lost)
    dropped = 0
    lost = 0
  }

  return {
    report,
    dropped() {
      dropped += 1
    },
    lost(error: unknown, contents: number) {
      lost += contents
      lastError = error
    },
  }
}
