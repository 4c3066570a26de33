import type { ContentFilter, ScanBudget, Sought, Span, Watch } from '../core/content-filter.ts'

/** How far a filter looks on from its match. */
const BEHIND = 2

/** A text whose scan has begun. */
export interface OpenText {
  readonly watches: readonly Watch[]
  readonly budget: ScanBudget
  readonly window: { before: string; held: string; base: number }
  /** A match may be under way whose beginning was sent. */
  isOverrun: boolean
}

/** Where a match is. */
export interface Place extends Span {
  readonly filter: ContentFilter
  readonly sought: Sought
  /** The rest of a match whose beginning was sent. */
  readonly isRest: boolean
}

/** All matches in the text that is held. `takesRests`: also of long matches that may go on behind `to`. */
export function placesIn(text: OpenText, to: number, takesRests: boolean): Place[] {
  const { watches, budget, isOverrun } = text
  const { before, held, base } = text.window
  const read = before + held
  const offset = base - before.length
  const all: Place[] = []
  for (const { hits } of watches) {
    for (const [sought, last] of hits) {
      const { filter } = sought
      budget.spend(held.length)
      let isCovered = false
      for (const { start, end } of sought.find(read, before.length, budget)) {
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

/**
 * The last place before `to` that splits no match. If every place splits one and the text `isForced` on, a long match is
 * split: its entry of `placed` becomes a rest.
 */
export function boundOf(
  text: OpenText,
  placed: Place[],
  to: number,
  length: number,
  isForced: boolean,
): number {
  const { base } = text.window
  let end = Math.max(to, ...placed.filter(({ isRest }) => isRest).map((rest) => rest.end))
  for (let at = 0; at < placed.length; at++) {
    const place = placed[at]
    if (place === undefined || place.isRest || place.start >= end) continue
    if (place.end <= end && place.end + BEHIND <= length) continue
    if (place.start > base || !isForced) {
      end = Math.max(base, place.start)
    } else {
      const known = place.end + BEHIND <= length ? place.end : lastHit(text, place.sought)
      placed.splice(at, 1)
      if (known > base) {
        placed.push({ ...place, end: known, isRest: true })
        end = known
      }
    }
    at = -1
  }
  return end
}

const lastHit = ({ watches }: OpenText, sought: Sought): number =>
  Math.max(0, ...watches.map(({ hits }) => hits.get(sought) ?? 0))
