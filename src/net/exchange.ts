import { type Cancellation, offCancel, onCancel, throwIfCancelled } from '../core/cancellation.ts'
import { UpstreamError } from '../core/errors.ts'
import type { Timeouts } from '../core/snapshot.ts'
import type { Bulkhead, Clocks, Expiry, Watched } from './clocks.ts'

/** One upstream call, from taking its place to the end of its body. */
export interface Exchange extends Watched {
  readonly bulkhead: Bulkhead
  readonly clocks: Clocks
  readonly group: string
  readonly endpoint: string | undefined
  readonly timeouts: Timeouts
  readonly startedAt: number
  /** Its signal, given to `fetch`, ends the connection. */
  readonly controller: AbortController
  readonly cancellation: Cancellation
  readonly onCancelled: (reason: Error) => void
  /** Set once, when the exchange is cut: every later read throws it. */
  failure: { readonly error: unknown } | null
  /** False once the body ended, broke or was cut: the place is free and no clock runs. */
  isOpen: boolean
  hasBytes: boolean
  /** Decides what counts as progress if the reader can tell pings from content; null: any bytes count. */
  progress: Progress | null
  /** The body is being read: cancelled on a cut, for bodies that do not listen to the signal. */
  reader: ReadableStreamDefaultReader<Uint8Array> | null
}

interface ExchangeOptions {
  readonly group: string
  readonly endpoint?: string | undefined
  readonly maxInFlight: number
  readonly timeouts: Timeouts
  /** The caller's: its reason becomes the failure. */
  readonly cancellation: Cancellation
}

/**
 * Takes a place (or throws `capacity`, or the reason of a cancellation) and starts the clocks. The place is released
 * exactly once, by `finish` or `cut`; the total clock cuts a body without a reader.
 */
export function openExchange(
  bulkhead: Bulkhead,
  clocks: Clocks,
  { group, endpoint, maxInFlight, timeouts, cancellation }: ExchangeOptions,
): Exchange {
  throwIfCancelled(cancellation)
  bulkhead.enter(group, maxInFlight, endpoint)
  const startedAt = clocks.now()
  const exchange: Exchange = {
    waitUntil: startedAt + timeouts.firstByteMs,
    endAt: startedAt + timeouts.totalMs,
    finestMs: Math.min(timeouts.firstByteMs, timeouts.betweenBytesMs, timeouts.totalMs),
    expire: (why) => expire(exchange, why),
    bulkhead,
    clocks,
    group,
    endpoint,
    timeouts,
    startedAt,
    controller: new AbortController(),
    cancellation,
    onCancelled: (reason) => cut(exchange, reason),
    failure: null,
    isOpen: true,
    hasBytes: false,
    progress: null,
    reader: null,
  }
  onCancel(cancellation, exchange.onCancelled)
  clocks.watch(exchange)
  return exchange
}

/** Waits for the provider: starts the clock between bytes, or continues that of the first byte. */
export function awaitBytes(exchange: Exchange): void {
  const { progress, clocks, timeouts } = exchange
  if (progress) exchange.waitUntil = progress.waitUntil(clocks.now())
  else if (exchange.hasBytes) exchange.waitUntil = clocks.now() + timeouts.betweenBytesMs
}

/** Bytes arrived: only the total clock runs until the next `awaitBytes`. */
export function receive(exchange: Exchange, byteCount = 0): void {
  exchange.hasBytes = true
  exchange.waitUntil = Number.POSITIVE_INFINITY
  exchange.progress?.receive(byteCount, exchange.clocks.now())
}

/** From now on bytes alone are not progress (see `Progress`). The returned function reports progress. */
export function awaitContent(exchange: Exchange): () => void {
  const progress = createProgress(exchange.timeouts, exchange.startedAt)
  exchange.progress = progress
  return progress.advance
}

/** Ends the call in `ms` at the latest. */
export function endWithin(exchange: Exchange, ms: number): void {
  exchange.endAt = Math.min(exchange.endAt, exchange.clocks.now() + ms)
}

/** Frees everything; the connection may go back to the pool. Idempotent. */
export function finish(exchange: Exchange): void {
  if (!exchange.isOpen) return
  exchange.isOpen = false
  exchange.clocks.unwatch(exchange)
  offCancel(exchange.cancellation, exchange.onCancelled)
  exchange.bulkhead.leave(exchange.group, exchange.endpoint)
}

/** Closes the connection at once and frees everything; the consumer gets `error`. Idempotent. */
export function cut(exchange: Exchange, error: unknown): void {
  if (!exchange.isOpen) return
  exchange.failure = { error }
  finish(exchange)
  exchange.controller.abort(error)
  exchange.reader?.cancel(error).catch(ignore)
}

function expire(exchange: Exchange, why: Expiry): void {
  const { hasBytes, progress, timeouts } = exchange
  const stall = hasBytes && why === 'wait' ? progress?.reason() : undefined
  cut(exchange, stall ? new UpstreamError('timeout', stall) : expired(why, hasBytes, timeouts))
}

function expired(why: Expiry, hasBytes: boolean, timeouts: Timeouts): UpstreamError {
  if (why === 'close') return new UpstreamError('connect', 'the gateway is stopping')
  if (why === 'total') {
    return new UpstreamError('timeout', `the reply had not ended after ${timeouts.totalMs} ms`)
  }
  if (hasBytes) return new UpstreamError('timeout', `the reply stalled for ${timeouts.betweenBytesMs} ms`)
  return new UpstreamError('timeout', `no first byte came within ${timeouts.firstByteMs} ms`)
}

/** A cancelled body may reject with its own error; the exchange already has one. */
const ignore = (): void => undefined

/**
 * How long a provider may take for the next piece of an answer, if the reader can tell pings from content:
 *
 * | when | how long |
 * |---|---|
 * | before the first content | `firstByteMs` from the start of the call, even if bytes arrive |
 * | then, in silence | `betweenBytesMs` |
 * | then, with pings or single bytes of an event | `firstByteMs`, or `betweenBytesMs` if that is longer |
 *
 * Models also think in the middle of an answer, and their providers send pings meanwhile, so pings extend the limit. 1 MB
 * of bytes is progress, so that an image of many megabytes may come as one event. Time spent waiting for the consumer does
 * not count.
 */
interface Progress {
  /** The end of a wait that starts at `now`. */
  waitUntil(now: number): number
  receive(byteCount: number, now: number): void
  /** Content arrived. */
  advance(): void
  /** Why the wait ended; undefined for silence. */
  reason(): string | undefined
}

const PROGRESS_BYTES = 1024 * 1024

export function createProgress({ firstByteMs, betweenBytesMs }: Timeouts, startedAt: number): Progress {
  const patienceMs = Math.max(firstByteMs, betweenBytesMs)
  let hasContent = false
  let firstUntil = startedAt + firstByteMs
  let leftMs = patienceMs
  let waitsSince = startedAt
  let byteCount = 0

  return {
    waitUntil(now) {
      waitsSince = now
      return hasContent ? now + Math.min(betweenBytesMs, leftMs) : firstUntil
    },
    receive(more, now) {
      leftMs -= now - waitsSince
      waitsSince = now
      byteCount += more
      if (byteCount < PROGRESS_BYTES) return
      byteCount = 0
      leftMs = patienceMs
      firstUntil = now + firstByteMs
    },
    advance() {
      hasContent = true
      byteCount = 0
      leftMs = patienceMs
    },
    reason() {
      if (!hasContent) return `no content came within ${firstByteMs} ms`
      return leftMs < betweenBytesMs ? `nothing but pings came for ${patienceMs} ms` : undefined
    },
  }
}
