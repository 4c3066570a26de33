import type { ContentLog, EndedContent } from '../core/generation-content.ts'
import type { ContentRow, ContentStore } from './contents.ts'

export interface ContentLogOptions {
  store: ContentStore
  /** What was dropped since the last time, for want of room in the queue. */
  onDropped(contents: number): void
  /** How many could not be written since the last time, and are lost; why, of the last of them. */
  onLost(error: unknown, contents: number): void
  /** Called after each write: the file may have grown beyond its bound. Never rejects. */
  onWritten(): Promise<void>
  /** What the queue may hold in memory. */
  mostBytes?: number
}

/** Some hundreds of long conversations. More than the disk takes for a while is dropped, not held. */
const MOST_BYTES = 64 * 1024 * 1024
/** What comes within this time is written together. */
const GATHER_MS = 50
/** The most bytes in one transaction: all requests wait while it runs. */
const BATCH_BYTES = 1024 * 1024
const BATCH_ROWS = 64
/** Dropped contents are logged at once, and then at most this often. */
const SAID_EVERY_MS = 10_000
/** Memory of one content in addition to its text. */
const OVERHEAD_BYTES = 512

/**
 * The queue between answers and the file. An answer only leaves a reference here; all else (putting the content together,
 * packing, sealing, writing) is done later, with a turn of the event loop between any two contents.
 */
export function createContentLog(options: ContentLogOptions): ContentLog {
  const { store, mostBytes = MOST_BYTES } = options
  /** In the order of their coming; each stays until it is written, so that it is found. */
  const waiting = new Map<string, EndedContent>()
  let bytes = 0
  let dropped = 0
  let lost = 0
  let lastError: unknown
  let saidAt = Number.NEGATIVE_INFINITY
  let telling: ReturnType<typeof setTimeout> | null = null
  let timer: ReturnType<typeof setTimeout> | null = null
  let writing: Promise<void> = Promise.resolve()
  const weightOf = ({ weight }: EndedContent): number => weight + OVERHEAD_BYTES

  /** The oldest that wait, as many as one transaction takes. */
  function nextBatch(): EndedContent[] {
    const batch: EndedContent[] = []
    let size = 0
    for (const content of waiting.values()) {
      if (batch.length === BATCH_ROWS || size >= BATCH_BYTES) break
      batch.push(content)
      size += content.weight
    }
    return batch
  }

  async function writeAll(): Promise<void> {
    timer = null
    for (let batch = nextBatch(); batch.length > 0; batch = nextBatch()) {
      await writeBatch(batch)
      for (const content of batch) {
        waiting.delete(content.generationId)
        bytes -= weightOf(content)
      }
      report()
    }
  }

  /** Nobody reads a line for each batch while a disk is full. */
  function report(isLast = false): void {
    if (dropped + lost === 0) return
    const waitMs = saidAt + SAID_EVERY_MS - performance.now()
    if (waitMs > 0 && !isLast) {
      telling ??= setTimeout(() => {
        telling = null
        report()
      }, waitMs).unref()
      return
    }
    if (telling !== null) clearTimeout(telling)
    telling = null
    saidAt = performance.now()
    if (dropped > 0) options.onDropped(dropped)
    if (lost > 0) options.onLost(lastError, lost)
    dropped = 0
    lost = 0
  }

  function lose(error: unknown, contents: number): void {
    lost += contents
    lastError = error
  }

  async function writeBatch(batch: readonly EndedContent[]): Promise<void> {
    const rows: ContentRow[] = []
    for (const content of batch) {
      try {
        rows.push(await store.seal(content))
      } catch (error) {
        lose(error, 1)
      }
      await turn()
    }
    if (rows.length === 0) return
    try {
      await store.write(rows)
    } catch (error) {
      return lose(error, rows.length)
    }
    await options.onWritten()
  }

  function begin(): Promise<void> {
    if (timer !== null) clearTimeout(timer)
    writing = writing.then(writeAll)
    return writing
  }

  return {
    add(content) {
      const weight = weightOf(content)
      if (bytes + weight > mostBytes) {
        dropped += 1
        return
      }
      waiting.set(content.generationId, content)
      bytes += weight
      timer ??= setTimeout(begin, GATHER_MS)
    },
    async find(generationId, workspaceId) {
      const content = waiting.get(generationId)
      if (content === undefined) return store.find(generationId, workspaceId)
      return content.workspaceId === workspaceId ? content.content() : null
    },
    async close() {
      await begin()
      report(true)
    },
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
