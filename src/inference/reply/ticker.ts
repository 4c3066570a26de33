import { neverBack } from '../../core/never-back.ts'

/** The result of `within` if the time is over before the promise resolves. */
export const TIMED_OUT: unique symbol = Symbol('timed out')

/**
 * Coarse timers for many streams: one interval for all of them instead of one timer per chunk. Callbacks run at most
 * `SWEEP_MS` late.
 */
export interface Ticker {
  /** Milliseconds on a monotonic clock: setting the system's clock does not affect waits. */
  now(): number
  /** Runs `callback` once after `ms`. Returns a function that cancels it. */
  after(ms: number, callback: () => void): () => void
  within<T>(promise: Promise<T>, ms: number): Promise<T | typeof TIMED_OUT>
  /** A timer that is moved often, by assigning `due`. It does not run before that. */
  watch(callback: () => void): Clock
  close(): void
}

export interface Clock {
  /** When the callback runs, on the ticker's clock; Infinity: never. Reset to Infinity when it runs. */
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
