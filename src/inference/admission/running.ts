import { type Cancellation, cancel } from '../../core/cancellation.ts'
import { unavailable } from '../../core/errors.ts'
import { DRAINING } from '../../core/refusal.ts'
import { ShutdownError } from '../upstream/abort.ts'

/** The running requests, for the drain at shutdown. */
export interface Running {
  /** Adds a request, to be cancelled if the drain takes too long. Throws a 503 once the drain has started. */
  begin(cancellation: Cancellation): void
  /** Removes it. Further calls have no effect. */
  end(cancellation: Cancellation): void
  count(): number
  isDraining(): boolean
  /** Rejects new requests. Resolves once none runs; after `graceMs` the remaining ones are aborted. */
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
      if (isDraining) throw unavailable('The gateway is shutting down', DRAIN_RETRY_AFTER_SECONDS, DRAINING)
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
