import { annotationOf, type CitationFinder, findCitations } from '../core/citations.ts'
import type { FrameBatch, InferenceEvent, InferenceFrame, InferenceFrames } from '../core/events.ts'
import type { SearchResult } from '../core/web-access.ts'

/** Adds a citation behind each Markdown link to one of the sources, when the link is complete. */
export function citedFrames(frames: InferenceFrames, sources: readonly SearchResult[]): InferenceFrames {
  return sources.length === 0 ? frames : cited(frames, sources)
}

async function* cited(frames: InferenceFrames, sources: readonly SearchResult[]): AsyncGenerator<FrameBatch> {
  const finders = new Map<number, CitationFinder>()
  const finderOf = (choice: number): CitationFinder => {
    const finder = finders.get(choice) ?? findCitations(sources)
    finders.set(choice, finder)
    return finder
  }
  for await (const batch of frames) {
    const shown: InferenceFrame[] = []
    for (const frame of batch) {
      shown.push(frame)
      const events = frame.events.flatMap((event) => citationsIn(event, finderOf))
      if (events.length > 0) shown.push({ events })
    }
    yield shown
  }
}

function citationsIn(event: InferenceEvent, finderOf: (choice: number) => CitationFinder): InferenceEvent[] {
  if (event.type !== 'text-delta') return []
  const { choice, text } = event
  return finderOf(choice)
    .see(text)
    .map((citation) => ({ type: 'annotation', choice, annotation: annotationOf(citation) }))
}
