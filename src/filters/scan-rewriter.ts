import type { ContentFilter, Piece } from '../core/content-filter.ts'
import type { OpenText, Place } from './scan-places.ts'

/** Writes what leaves a scan: kept text, placeholders, and the end if a filter blocks. */
interface Rewriter {
  isBlocked(): boolean
  /** The pieces up to `to`, without the text behind a blocking match; reports their matches. */
  release(to: number, placed: readonly Place[]): Piece[]
}

export function createRewriter(
  text: OpenText,
  found: (filter: ContentFilter, places: number) => void,
): Rewriter {
  const { window } = text
  let isBlocked = false
  /** The filter of the last placeholder, if no text was kept since. */
  let lastReplaced: ContentFilter | null = null

  /** A long match is reported once, even if it was split several times. */
  const isContinued = ({ isRest, start, filter }: Place): boolean =>
    isRest && start === window.base && text.isOverrun && lastReplaced === filter

  /** Overlapping places of several filters become one, under the name of the first and longest. */
  function rewritten(due: readonly Place[], to: number): Piece[] {
    const { base, held } = window
    const pieces: Piece[] = []
    let done = base
    const keep = (until: number): void => {
      if (until <= done) return
      pieces.push({ text: held.slice(done - base, until - base), length: until - done, kind: 'kept' })
      done = until
      lastReplaced = null
    }
    for (const place of due) {
      const until = Math.min(place.end, to)
      if (place.start >= done) {
        keep(place.start)
        const text = isContinued(place) ? '' : place.filter.placeholder
        pieces.push({ text, length: until - done, kind: 'replaced' })
        done = until
        lastReplaced = place.filter
      } else if (until > done) {
        pieces.push({ text: '', length: until - done, kind: 'replaced' })
        done = until
      }
    }
    keep(to)
    return pieces
  }

  return {
    isBlocked: () => isBlocked,
    release(to, placed) {
      const due = placed.filter(({ start }) => start < to).sort((a, b) => a.start - b.start || b.end - a.end)
      for (const place of due)
        if (!isContinued(place)) found(place.filter, place.filter.action === 'redact' ? 1 : 0)
      const blocking = due.find(({ filter }) => filter.action === 'block')
      const end = blocking?.start ?? to
      const redacted = due.filter(({ start, filter }) => filter.action === 'redact' && start < end)
      const pieces = rewritten(redacted, end)
      if (blocking === undefined) return pieces
      isBlocked = true
      return [...pieces, { text: '', length: 0, kind: 'blocked' }]
    },
  }
}
