import type { Timeouts } from '../core/snapshot.ts'

/**
 * How long a provider may take for the next piece of an answer, where its reader knows pings from content:
 *
 * | when | how long |
 * |---|---|
 * | before the first content | `firstByteMs` from the beginning of the call, whatever bytes come |
 * | then, in silence | `betweenBytesMs` |
 * | then, with pings, or a piece that comes in drips | `firstByteMs` (`betweenBytesMs` where that is longer) |
 *
 * Models think in the middle of an answer too, and their providers send pings meanwhile: that is why pings give more
 * time than silence does. 1 MB of bytes is progress, so that an image of many megabytes may come as one event. The time
 * in which the consumer has the turn does not count.
 */
export interface Progress {
  /** When the wait that begins at `now` is over. */
  waitUntil(now: number): number
  receive(byteCount: number, now: number): void
  /** Content came. */
  advance(): void
  /** Why the wait was over; undefined: it was silence. */
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
