import type {
  ContentFilter,
  Piece,
  ScanBudget,
  Sought,
  Span,
  TextScan,
  Watch,
} from '../core/content-filter.ts'

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
/** How far a filter looks on from its match. */
const BEHIND = 2
/** What is found is not placed again before so much more has come. */
const STEP = 256

interface Place extends Span {
  readonly filter: ContentFilter
  readonly sought: Sought
  /** The rest of a match whose beginning has gone out. */
  readonly isRest: boolean
}

/** `found` is called for every match, once per place. */
export function openTextScan(
  watches: readonly Watch[],
  budget: ScanBudget,
  found: (filter: ContentFilter, places: number) => void,
): TextScan {
  const window = { before: '', held: '', base: 0 }
  /** The first half of a character. */
  let half = ''
  /** A match may be under way whose beginning has gone out. */
  let isOverrun = false
  let isBlocked = false
  /** Until one of these is reached, what has been found cannot be dealt with. */
  let waitFor = { safe: 0, length: 0 }
  /** Whose placeholder was the last that went out. */
  let lastReplaced: ContentFilter | null = null

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
    const placed = places(to, isEnd || isForced)
    const end = isEnd ? to : bound(placed, to, length, isForced)
    if (end < to) waitFor = { safe: farthest(placed, end), length: length + STEP }
    return end <= base ? [] : released(end, placed, end > safe)
  }

  function isWorthPlacing(to: number, safe: number, length: number): boolean {
    if (safe < waitFor.safe && length < waitFor.length) return false
    let last = 0
    for (const { hits } of watches) for (const at of hits.values()) last = Math.max(last, at)
    return to >= last || to - window.base >= STEP
  }

  /** `takesRests`: also of long matches that may go on behind `to`. */
  function places(to: number, takesRests: boolean): Place[] {
    const { before, held, base } = window
    const text = before + held
    const offset = base - before.length
    const all: Place[] = []
    for (const { hits } of watches) {
      for (const [sought, last] of hits) {
        const { filter } = sought
        budget.spend(held.length)
        let isCovered = false
        for (const { start, end } of sought.find(text, before.length, budget)) {
          isCovered ||= end + offset >= last
          all.push({ start: start + offset, end: end + offset, filter, sought, isRest: false })
        }
        if (isOverrun && !isCovered && (takesRests || last <= to)) {
          all.push({ start: base, end: last, filter, sought, isRest: true })
        }
      }
    }
    return all
  }

  /** The last place before `to` that splits no match. If every place splits one, a long match is split. */
  function bound(placed: Place[], to: number, length: number, isForced: boolean): number {
    let end = Math.max(to, ...placed.filter(({ isRest }) => isRest).map((rest) => rest.end))
    for (let at = 0; at < placed.length; at++) {
      const place = placed[at]
      if (place === undefined || place.isRest || place.start >= end) continue
      if (place.end <= end && place.end + BEHIND <= length) continue
      if (place.start > window.base || !isForced) {
        end = Math.max(window.base, place.start)
      } else {
        const known = place.end + BEHIND <= length ? place.end : lastOf(place.sought)
        placed.splice(at, 1)
        if (known > window.base) {
          placed.push({ ...place, end: known, isRest: true })
          end = known
        }
      }
      at = -1
    }
    return end
  }

  function lastOf(sought: Sought): number {
    let last = 0
    for (const { hits } of watches) last = Math.max(last, hits.get(sought) ?? 0)
    return last
  }

  function released(to: number, placed: readonly Place[], isBeyondSafe: boolean): Piece[] {
    const due = placed.filter(({ start }) => start < to).sort((a, b) => a.start - b.start || b.end - a.end)
    const blocking = due.find(({ filter }) => filter.action === 'block')
    const end = blocking ? blocking.start : to
    report(due)
    const pieces = rewritten(
      due.filter(({ start, filter }) => filter.action === 'redact' && start < end),
      end,
    )
    advance(to)
    isOverrun = isBeyondSafe
    if (blocking) {
      isBlocked = true
      pieces.push({ text: '', length: 0, kind: 'blocked' })
    }
    return pieces
  }

  function report(due: readonly Place[]): void {
    for (const place of due) {
      if (!isContinued(place)) found(place.filter, place.filter.action === 'redact' ? 1 : 0)
    }
  }

  /** A long match is reported once, even if it was split several times. */
  const isContinued = ({ isRest, start, filter }: Place): boolean =>
    isRest && start === window.base && isOverrun && lastReplaced === filter

  /** Places of several filters that overlap become one, under the name of the first and longest. */
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

  function advance(to: number): void {
    const gone = window.held.slice(0, to - window.base)
    window.before = (window.before + gone.slice(-CONTEXT)).slice(-CONTEXT)
    window.held = window.held.slice(gone.length)
    window.base = to
    for (const { hits } of watches) {
      for (const [sought, last] of hits) if (last <= to) hits.delete(sought)
    }
  }

  return {
    push(text) {
      let fresh = half + text
      const last = fresh.charCodeAt(fresh.length - 1)
      half = last >= 0xd800 && last <= 0xdbff ? fresh.slice(-1) : ''
      if (half !== '') fresh = fresh.slice(0, -1)
      if (isBlocked || fresh === '') return []
      read(fresh)
      return settle(false)
    },
    end() {
      if (isBlocked) return []
      if (half !== '') read(half)
      half = ''
      if (window.held === '') return []
      for (const watch of watches) watch.end(window, budget)
      return settle(true)
    },
  }
}

const farthest = (placed: readonly Place[], from: number): number =>
  Math.max(0, ...placed.filter(({ start, end }) => start <= from && end > from).map(({ end }) => end))
