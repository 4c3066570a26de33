export interface WriteQueueOptions<Value> {
  /** Bytes of memory that a value takes while it waits. */
  bytesOf(value: Value): number
  /** The most bytes that may wait in memory. */
  mostBytes: number
  /** Values that arrive within this time are written together. */
  gatherMs: number
  /** Writes one batch. Never rejects. */
  write(batch: readonly Value[]): Promise<void>
}

/** Values in memory on their way to the file, by id. Each stays here until it is written, so that reads find it. */
interface WriteQueue<Value> {
  /** False: the queue is full, and the value was dropped. A value with the same id is replaced. */
  add(id: string, value: Value): boolean
  get(id: string): Value | undefined
  /** Writes everything that waits. */
  flush(): Promise<void>
}

/** The most in one transaction: all requests wait while it runs. */
const BATCH_ROWS = 64
const BATCH_BYTES = 1024 * 1024

export function createWriteQueue<Value>(options: WriteQueueOptions<Value>): WriteQueue<Value> {
  const { bytesOf, mostBytes, gatherMs, write } = options
  /** In order of arrival. */
  const waiting = new Map<string, Value>()
  let waitingBytes = 0
  let timer: ReturnType<typeof setTimeout> | null = null
  let writing: Promise<void> = Promise.resolve()

  /** The oldest values, as many as one transaction takes. */
  function nextBatch(): Map<string, Value> {
    const batch = new Map<string, Value>()
    let bytes = 0
    for (const [id, value] of waiting) {
      if (batch.size === BATCH_ROWS || bytes >= BATCH_BYTES) break
      batch.set(id, value)
      bytes += bytesOf(value)
    }
    return batch
  }

  async function writeAll(): Promise<void> {
    timer = null
    for (let batch = nextBatch(); batch.size > 0; batch = nextBatch()) {
      await write([...batch.values()])
      for (const [id, value] of batch) {
        // A value with the same id may have replaced it meanwhile.
        if (waiting.get(id) !== value) continue
        waiting.delete(id)
        waitingBytes -= bytesOf(value)
      }
    }
  }

  function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer)
    writing = writing.then(writeAll)
    return writing
  }

  return {
    add(id, value) {
      const bytes = bytesOf(value)
      if (waitingBytes + bytes > mostBytes) return false
      const replaced = waiting.get(id)
      waitingBytes += bytes - (replaced === undefined ? 0 : bytesOf(replaced))
      waiting.set(id, value)
      timer ??= setTimeout(flush, gatherMs)
      return true
    },
    get: (id) => waiting.get(id),
    flush,
  }
}
