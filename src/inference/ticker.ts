/** Answered by `within` in place of the promise's value when the time is over first. */
export const TIMED_OUT: unique symbol = Symbol('timed out')

/**
 * Coarse timers for many streams: one interval for all of them in place of one timer for each chunk.
 * A callback runs at most `SWEEP_MS` late.
 */
export interface Ticker {
  /** Runs `callback` once after `ms`, unless the returned function was called before. */
  after(ms: number, callback: () => void): () => void
  within<T>(promise: Promise<T>, ms: number): Promise<T | typeof TIMED_OUT>
  close(): void
}

const SWEEP_MS = 250

export function createTicker(now: () => number): Ticker {
  const waiting = new Set<{ due: number; callback: () => void }>()
  let interval: ReturnType<typeof setInterval> | null = null

  function sweep(): void {
    const at = now()
    for (const entry of waiting) {
      if (entry.due > at) continue
      waiting.delete(entry)
      entry.callback()
    }
    if (waiting.size === 0 && interval) {
      clearInterval(interval)
      interval = null
    }
  }

  function after(ms: number, callback: () => void): () => void {
    const entry = { due: now() + ms, callback }
    waiting.add(entry)
    interval ??= setInterval(sweep, SWEEP_MS).unref()
    return () => waiting.delete(entry)
  }

  return {
    after,
    within: (promise, ms) =>
      new Promise((resolve, reject) => {
        const cancel = after(ms, () => resolve(TIMED_OUT))
        promise.then(
          (value) => {
            cancel()
            resolve(value)
          },
          (error) => {
            cancel()
            reject(error)
          },
        )
      }),
    close: () => {
      if (interval) clearInterval(interval)
      interval = null
      waiting.clear()
    },
  }
}
