import { unavailable } from '../core/errors.ts'
import { ShutdownError } from './abort.ts'

/** The requests that run now, for the drain at shutdown. */
export interface Running {
  /** Counts one in; throws 503 once the drain has begun. The returned function counts it out (once). */
  begin(abort: (reason: Error) => void): () => void
  count(): number
  isDraining(): boolean
  /** Refuses new requests; resolves when none runs, or after `graceMs` and the end of those that were then aborted. */
  drain(graceMs: number): Promise<void>
}

const ABORTED_MAY_TAKE_MS = 2_000
const DRAIN_RETRY_AFTER_SECONDS = 5

export function createRunning(): Running {
  const aborts = new Set<(reason: Error) => void>()
  let isDraining = false
  let whenEmpty: (() => void) | null = null

  const emptied = (timeoutMs: number): Promise<void> =>
    new Promise((resolve) => {
      if (aborts.size === 0) return resolve()
      const timer = setTimeout(resolve, timeoutMs)
      whenEmpty = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  return {
    begin(abort) {
      if (isDraining) throw unavailable('The gateway is shutting down', DRAIN_RETRY_AFTER_SECONDS)
      aborts.add(abort)
      return () => {
        if (aborts.delete(abort) && aborts.size === 0) whenEmpty?.()
      }
    },
    count: () => aborts.size,
    isDraining: () => isDraining,
    async drain(graceMs) {
      isDraining = true
      await emptied(graceMs)
      for (const abort of [...aborts]) abort(new ShutdownError())
      await emptied(ABORTED_MAY_TAKE_MS)
    },
  }
}
