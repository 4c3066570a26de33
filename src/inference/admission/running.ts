import { type Cancellation, cancel } from '../../core/cancellation.ts'
import { unavailable } from '../../core/errors.ts'
import { ShutdownError } from '../upstream/abort.ts'

/** The requests that run now, for the drain at shutdown. */
export interface Running {
  /** Counts one in, which is cancelled should the drain take too long; throws 503 once the drain has begun. */
  begin(cancellation: Cancellation): void
  /** Counts it out. A second call changes nothing. */
  end(cancellation: Cancellation): void
  count(): number
  isDraining(): boolean
  /** Refuses new requests; resolves when none runs, or after `graceMs` and the end of those that were then aborted. */
  drain(graceMs: number): Promise<void>
}

const ABORTED_MAY_TAKE_MS = 2_000
const DRAIN_RETRY_AFTER_SECONDS = 5

export function createRunning(): Running {
  const running = new Set<Cancellation>()
  let isDraining = false
  let whenEmpty: (() => void) | null = null

  const emptied = (timeoutMs: number): Promise<void> =>
    new Promise((resolve) => {
      if (running.size === 0) return resolve()
      const timer = setTimeout(resolve, timeoutMs)
      whenEmpty = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  return {
    begin(cancellation) {
      if (isDraining) throw unavailable('The gateway is shutting down', DRAIN_RETRY_AFTER_SECONDS)
      running.add(cancellation)
    },
    end(cancellation) {
      if (running.delete(cancellation) && running.size === 0) whenEmpty?.()
    },
    count: () => running.size,
    isDraining: () => isDraining,
    async drain(graceMs) {
      isDraining = true
      await emptied(graceMs)
      for (const cancellation of [...running]) cancel(cancellation, new ShutdownError())
      await emptied(ABORTED_MAY_TAKE_MS)
    },
  }
}
