import { UpstreamError } from '../core/errors.ts'
import type { Timeouts } from '../core/snapshot.ts'
import type { Bulkhead } from './bulkhead.ts'
import type { Clocks, Expiry, Watched } from './clocks.ts'
import { createProgress, type Progress } from './progress.ts'

/** One call upstream, from the place that it takes to the end of its body. */
export interface Exchange extends Watched {
  /** Ends the connection; given to `fetch`. */
  readonly signal: AbortSignal
  /** Set once, when the exchange was cut: what every later read throws. */
  failure: { readonly error: unknown } | null
  /** False once the body ended, broke or was cut: the place is free and no clock runs. */
  readonly isOpen: boolean
  /** The body is being read: cancelled on a cut, for bodies that do not listen to `signal`. */
  reader: ReadableStreamDefaultReader<Uint8Array> | null
  /** The provider has the turn: starts the clock between bytes, or goes on with the one of the first byte. */
  await(): void
  /** Bytes came: no clock but the total one runs until the next `await`. */
  receive(byteCount?: number): void
  /** From now on bytes alone are no progress (see `progress.ts`). The returned function reports progress. */
  awaitContent(): () => void
  /** Ends the call in `ms` at the latest. */
  endWithin(ms: number): void
  /** Frees everything; the connection may go back to the pool. Idempotent. */
  finish(): void
  /** Closes the connection at once and frees everything; `error` is what the consumer gets. Idempotent. */
  cut(error: unknown): void
}

export interface ExchangeOptions {
  readonly group: string
  readonly maxInFlight: number
  readonly timeouts: Timeouts
  /** The caller's: its reason becomes the failure. */
  readonly signal: AbortSignal
}

/**
 * Takes a place (or throws `capacity`, or the reason of a signal that was aborted already) and starts the
 * clocks. The place is given back exactly once, by `finish` or `cut`; the total clock cuts what nobody reads.
 */
export function openExchange(bulkhead: Bulkhead, clocks: Clocks, options: ExchangeOptions): Exchange {
  const { group, timeouts, signal: callerSignal } = options
  callerSignal.throwIfAborted()
  bulkhead.enter(group, options.maxInFlight)

  const controller = new AbortController()
  const startedAt = clocks.now()
  let isOpen = true
  let hasBytes = false
  let progress: Progress | null = null

  const exchange: Exchange = {
    signal: controller.signal,
    failure: null,
    reader: null,
    waitUntil: startedAt + timeouts.firstByteMs,
    endAt: startedAt + timeouts.totalMs,
    finestMs: Math.min(timeouts.firstByteMs, timeouts.betweenBytesMs, timeouts.totalMs),
    get isOpen() {
      return isOpen
    },
    await() {
      if (progress) exchange.waitUntil = progress.waitUntil(clocks.now())
      else if (hasBytes) exchange.waitUntil = clocks.now() + timeouts.betweenBytesMs
    },
    receive(byteCount = 0) {
      hasBytes = true
      exchange.waitUntil = Number.POSITIVE_INFINITY
      progress?.receive(byteCount, clocks.now())
    },
    awaitContent() {
      const judged = createProgress(timeouts, startedAt)
      progress = judged
      return judged.advance
    },
    endWithin(ms) {
      exchange.endAt = Math.min(exchange.endAt, clocks.now() + ms)
    },
    finish() {
      if (!isOpen) return
      isOpen = false
      clocks.unwatch(exchange)
      callerSignal.removeEventListener('abort', onCallerAbort)
      bulkhead.leave(group)
    },
    cut(error) {
      if (!isOpen) return
      exchange.failure = { error }
      exchange.finish()
      controller.abort(error)
      exchange.reader?.cancel(error).catch(ignore)
    },
    expire(why) {
      const stall = hasBytes && why === 'wait' ? progress?.reason() : undefined
      exchange.cut(stall ? new UpstreamError('timeout', stall) : expired(why, hasBytes, timeouts))
    },
  }
  const onCallerAbort = (): void => exchange.cut(callerSignal.reason)
  callerSignal.addEventListener('abort', onCallerAbort, { once: true })
  clocks.watch(exchange)
  return exchange
}

function expired(why: Expiry, hasBytes: boolean, timeouts: Timeouts): UpstreamError {
  if (why === 'close') return new UpstreamError('connect', 'the gateway is stopping')
  if (why === 'total') {
    return new UpstreamError('timeout', `the reply had not ended after ${timeouts.totalMs} ms`)
  }
  if (hasBytes) return new UpstreamError('timeout', `the reply stalled for ${timeouts.betweenBytesMs} ms`)
  return new UpstreamError('timeout', `no first byte came within ${timeouts.firstByteMs} ms`)
}

/** A cancelled body may answer with its own error: the exchange has one already. */
const ignore = (): void => undefined
