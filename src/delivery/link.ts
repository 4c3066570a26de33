import { openWorker } from '../threads/pool.ts'
import type { FromWorker, Opening, ToWorker } from './messages.ts'
import type { Report } from './report.ts'

export interface LinkOptions {
  readonly opening: Opening
  /** The first message to a thread: all destinations. */
  lanes(): ToWorker
  onReports(reports: readonly Report[]): void
  /** The thread ended by an error; it is started again after `retryMs`. */
  onCrash(error: unknown, retryMs: number): void
}

/** The thread of the delivery, seen from the main thread. It is started when it is needed, and again when it fails. */
export interface Link {
  /** Starts the thread unless it runs. */
  start(): void
  /** Sends a message. False: there is no thread. */
  post(message: ToWorker): boolean
  /** Lets the thread finish what it sends within `ms`, and ends it. It can be started again. */
  stop(ms: number): Promise<void>
}

const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 60_000
/** A thread that ran longer has recovered: the next failure is a first one. */
const RECOVERED_MS = 10 * 60_000
/** For the last reports, beyond the time that sending may take. */
const LAST_REPORTS_MS = 1_000

export function createLink({ opening, lanes, onReports, onCrash }: LinkOptions): Link {
  let worker: Worker | null = null
  let retry: Timer | undefined
  let failures = 0
  let startedAt = 0
  let onStopped: () => void = () => {}
  let isWanted = false
  let ending: Promise<void> | null = null

  function open(): void {
    const opened = openWorker('delivery')
    worker = opened
    startedAt = performance.now()
    opened.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (data.kind === 'reports') onReports(data.reports)
      else onStopped()
    }
    opened.onerror = (event) => crashed(opened, event.error ?? new Error(event.message))
    opened.postMessage(opening)
    opened.postMessage(lanes())
  }

  function crashed(failed: Worker, error: unknown): void {
    if (worker !== failed) return
    worker = null
    failed.terminate()
    if (performance.now() - startedAt > RECOVERED_MS) failures = 0
    const retryMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures)
    failures += 1
    onCrash(error, retryMs)
    retry = setTimeout(() => {
      retry = undefined
      open()
    }, retryMs)
    retry.unref()
  }

  async function end(stopping: Worker, ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    onStopped = resolve
    const timer = setTimeout(resolve, ms + LAST_REPORTS_MS)
    stopping.postMessage({ kind: 'stop', ms } satisfies ToWorker)
    await promise
    clearTimeout(timer)
    stopping.terminate()
  }

  return {
    start() {
      isWanted = true
      if (worker === null && retry === undefined && ending === null) open()
    },
    post(message) {
      worker?.postMessage(message)
      return worker !== null
    },
    async stop(ms) {
      isWanted = false
      clearTimeout(retry)
      retry = undefined
      const stopping = worker
      worker = null
      if (stopping !== null) {
        ending = end(stopping, ms).finally(() => {
          ending = null
          // Started again meanwhile: never two threads at a time.
          if (isWanted) open()
        })
      }
      await ending
    },
  }
}
