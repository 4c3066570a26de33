import { neverBack } from '../../core/never-back.ts'

/** Answered by `within` in place of the promise's value when the time is over first. */
export const TIMED_OUT: unique symbol = Symbol('timed out')

/**
 * Coarse timers for many streams: one interval for all of them in place of one timer for each chunk.
 * A callback runs at most `SWEEP_MS` late.
 */
export interface Ticker {
  /** Milliseconds on a monotonic scale: setting the system's clock does not change a wait. */
  now(): number
  /** Runs `callback` once after `ms`, unless the returned function was called before. */
  after(ms: number, callback: () => void): () => void
  within<T>(promise: Promise<T>, ms: number): Promise<T | typeof TIMED_OUT>
  /** A clock whose time is moved often, by one assignment. It does not run until it is set. */
  watch(callback: () => void): Clock
  close(): void
}

export interface Clock {
  /** When the callback runs, on the scale of the ticker's `now`; Infinity: never. Each time is used up once. */
  due: number
  stop(): void
}

const SWEEP_MS = 250

export function createTicker(clock: () => number): Ticker {
  const now = neverBack(clock)
  const waiting = new Set<{ due: number; callback: () => void }>()
  let interval: ReturnType<typeof setInterval> | null = null

  function sweep(): void {
    const at = now()
    for (const entry of waiting) {
      if (entry.due > at) continue
      entry.due = Number.POSITIVE_INFINITY
      entry.callback()
    }
    if (waiting.size === 0 && interval) {
      clearInterval(interval)
      interval = null
    }
  }

  function watch(callback: () => void): Clock {
    const entry = { due: Number.POSITIVE_INFINITY, callback, stop: () => void waiting.delete(entry) }
    waiting.add(entry)
    interval ??= setInterval(sweep, SWEEP_MS).unref()
    return entry
  }

  function after(ms: number, callback: () => void): () => void {
    const clock = watch(() => {
      clock.stop()
      callback()
    })
    clock.due = now() + ms
    return clock.stop
  }

  return {
    now,
    after,
    watch,
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
