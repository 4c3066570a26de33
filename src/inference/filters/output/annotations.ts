import type { Piece } from '../../../core/content-filter.ts'
import type { InferenceEvent, JsonObject } from '../../../core/events.ts'
import type { Scanners } from '../scanners.ts'

type AnnotationEvent = Extract<InferenceEvent, { type: 'annotation' }>

/** Citations of a text whose length filters may change. Shifts the citations' offsets accordingly. */
export interface AnnotationQueue {
  take(event: AnnotationEvent, out: InferenceEvent[]): void
  /** Text has arrived. */
  received(text: string): void
  /** Text has been released to the caller. */
  released(pieces: readonly Piece[], out: InferenceEvent[]): void
  /** Releases all held citations. */
  flush(out: InferenceEvent[]): void
}

/** Offset fields of citations, in all dialects. */
const PLACES = ['startIndex', 'endIndex', 'start_index', 'end_index'] as const

export function createAnnotationQueue(scanners: Scanners): AnnotationQueue {
  let come = 0
  let gone = 0
  let waiting: AnnotationEvent[] = []
  /** The cumulative growth of the text, by offset, in order. */
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
    const annotation = scanners.scan(event.annotation)
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

  function flush(out: InferenceEvent[]): void {
    const due = waiting
    waiting = []
    for (const event of due) out.push(shown(event))
  }

  return {
    take(event, out) {
      if (gone < come) waiting.push(event)
      else out.push(shown(event))
    },
    received(text) {
      come += text.length
    },
    released(pieces, out) {
      for (const { text, length } of pieces) {
        gone += length
        if (text.length === length) continue
        moves.push({ at: gone, total: (moves.at(-1)?.total ?? 0) + text.length - length })
      }
      if (waiting.length > 0 && gone >= come) flush(out)
    },
    flush,
  }
}

const isRecord = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
