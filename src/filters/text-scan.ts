import type { ContentFilter, Piece, ScanBudget, TextScan, Watch } from '../core/content-filter.ts'
import { boundOf, type OpenText, type Place, placesIn } from './scan-places.ts'

/**
 * Scans a text that arrives in pieces. The output equals that of the same filters over the complete text, however it was
 * split: a match of up to `LONGEST` characters is always found completely. The start of a longer match may have been sent
 * before it is found; the rest is handled like any match. Text that may be part of a match is held back, at most
 * `MOST_HELD` characters.
 */

/** In UTF-16 units. */
export const LONGEST = 2_048
export const MOST_HELD = 4_096
/** How far back a filter looks from its match. */
const CONTEXT = 16
/** Matches are placed again only after this many further characters. */
const STEP = 256

/** `found` is called for every match, once per place. */
export function openTextScan(
  watches: readonly Watch[],
  budget: ScanBudget,
  found: (filter: ContentFilter, places: number) => void,
): TextScan {
  const window = { before: '', held: '', base: 0 }
  const open: OpenText = { watches, budget, window, isOverrun: false }
  const rewriter = createRewriter(open, found)
  /** The first half of a character. */
  let half = ''
  /** Matches that were found cannot be released before one of these is reached. */
  let waitFor = { safe: 0, length: 0 }

  function read(fresh: string): void {
    window.held += fresh
    for (const watch of watches) watch.read(window, fresh, budget)
  }

  function settle(isEnd: boolean): Piece[] {
    const { base, held } = window
    const length = base + held.length
    let safe = length
    if (!isEnd) for (const watch of watches) safe = Math.min(safe, watch.safeTo(length))
    const isForced = length - Math.max(base, safe) > MOST_HELD
    const to = isForced ? length - LONGEST : safe
    if (to <= base) return []
    if (!watches.some(({ hits }) => hits.size > 0)) return released(to, [], to > safe)
    if (!isEnd && !isForced && !isWorthPlacing(to, safe, length)) return []
    const placed = placesIn(open, to, isEnd || isForced)
    const end = isEnd ? to : boundOf(open, placed, to, length, isForced)
    if (end < to) waitFor = { safe: farthest(placed, end), length: length + STEP }
    return end <= base ? [] : released(end, placed, end > safe)
  }

  function isWorthPlacing(to: number, safe: number, length: number): boolean {
    if (safe < waitFor.safe && length < waitFor.length) return false
    let last = 0
    for (const { hits } of watches) for (const at of hits.values()) last = Math.max(last, at)
    return to >= last || to - window.base >= STEP
  }

  function released(to: number, placed: readonly Place[], isBeyondSafe: boolean): Piece[] {
    const pieces = rewriter.release(to, placed)
    advance(open, to)
    open.isOverrun = isBeyondSafe
    return pieces
  }

  return {
    push(text) {
      let fresh = half + text
      const last = fresh.charCodeAt(fresh.length - 1)
      half = last >= 0xd800 && last <= 0xdbff ? fresh.slice(-1) : ''
      if (half !== '') fresh = fresh.slice(0, -1)
      if (rewriter.isBlocked() || fresh === '') return []
      read(fresh)
      return settle(false)
    },
    end() {
      if (rewriter.isBlocked()) return []
      if (half !== '') read(half)
      half = ''
      if (window.held === '') return []
      for (const watch of watches) watch.end(window, budget)
      return settle(true)
    },
  }
}

/** Forgets the text before `to`, except what a filter may look back at. */
function advance({ window, watches }: OpenText, to: number): void {
  const gone = window.held.slice(0, to - window.base)
  window.before = (window.before + gone.slice(-CONTEXT)).slice(-CONTEXT)
  window.held = window.held.slice(gone.length)
  window.base = to
  for (const { hits } of watches) {
    for (const [sought, last] of hits) if (last <= to) hits.delete(sought)
  }
}

const farthest = (placed: readonly Place[], from: number): number =>
  Math.max(0, ...placed.filter(({ start, end }) => start <= from && end > from).map(({ end }) => end))

/** Writes what leaves a scan: kept text, placeholders, and the end if a filter blocks. */
interface Rewriter {
  isBlocked(): boolean
  /** The pieces up to `to`, without the text behind a blocking match; reports their matches. */
  release(to: number, placed: readonly Place[]): Piece[]
}

function createRewriter(text: OpenText, found: (filter: ContentFilter, places: number) => void): Rewriter {
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
