import type { Piece } from '../../../core/content-filter.ts'
import type { InferenceEvent, JsonObject } from '../../../core/events.ts'
import type { Scanners } from '../scanners.ts'

type AnnotationEvent = Extract<InferenceEvent, { type: 'annotation' }>

/** Citations beside a text that may become shorter or longer: their places are moved along with it. */
export interface AnnotationQueue {
  take(event: AnnotationEvent, out: InferenceEvent[]): void
  /** More of the text has come. */
  came(text: string): void
  /** This much of it has gone out. */
  passed(pieces: readonly Piece[], out: InferenceEvent[]): void
  /** Nothing is held back any more. */
  leave(out: InferenceEvent[]): void
}

/** Places as citations name them, in the forms of all dialects. */
const PLACES = ['startIndex', 'endIndex', 'start_index', 'end_index'] as const

export function createAnnotationQueue(scanners: Scanners): AnnotationQueue {
  let come = 0
  let gone = 0
  let waiting: AnnotationEvent[] = []
  /** By how many characters the text is longer from each place on where it changed, in order. */
  const moves: { at: number; total: number }[] = []

  function moved(place: number): number {
    let low = 0
    let high = moves.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((moves[middle]?.at ?? 0) <= place) low = middle + 1
      else high = middle
    }
    return place + (moves[low - 1]?.total ?? 0)
  }

  function shown(event: AnnotationEvent): AnnotationEvent {
    const annotation = scanners.whole(event.annotation)
    const next = moves.length === 0 ? annotation : withPlaces(annotation)
    return next === event.annotation || !isRecord(next) ? event : { ...event, annotation: next }
  }

  function withPlaces(annotation: unknown): unknown {
    if (!isRecord(annotation)) return annotation
    const next: JsonObject = { ...annotation }
    for (const name of PLACES) {
      const place = next[name]
      if (typeof place === 'number') next[name] = Math.max(0, moved(place))
    }
    if (isRecord(next['url_citation'])) next['url_citation'] = withPlaces(next['url_citation'])
    return next
  }

  function leave(out: InferenceEvent[]): void {
    const due = waiting
    waiting = []
    for (const event of due) out.push(shown(event))
  }

  return {
    take(event, out) {
      if (gone < come) waiting.push(event)
      else out.push(shown(event))
    },
    came(text) {
      come += text.length
    },
    passed(pieces, out) {
      for (const { text, length } of pieces) {
        gone += length
        if (text.length === length) continue
        moves.push({ at: gone, total: (moves.at(-1)?.total ?? 0) + text.length - length })
      }
      if (waiting.length > 0 && gone >= come) leave(out)
    },
    leave,
  }
}

const isRecord = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
