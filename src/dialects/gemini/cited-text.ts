import type { JsonObject } from '../../core/events.ts'

interface Citation {
  url: string
  title: string
  /** Characters of the text. */
  start: number
  end: number
}

/** A text and what it cites, as Google tells both: places are counted in bytes of UTF-8. */
export interface CitedText {
  addText(text: string): void
  cite(citation: Citation): void
  /** `groundingMetadata`; undefined where nothing is cited. */
  grounding(): JsonObject | undefined
}

/** More than any answer cites; the others are left out of a reply that would only grow with them. */
const MOST_CITATIONS = 10_000

export function createCitedText(): CitedText {
  const pieces: string[] = []
  const citations: Citation[] = []
  return {
    addText(text) {
      pieces.push(text)
    },
    cite(citation) {
      if (citations.length < MOST_CITATIONS) citations.push(citation)
    },
    grounding() {
      if (citations.length === 0) return undefined
      const text = pieces.join('')
      const bytesTo = byteCounter(text, citations)
      const chunks = new Map<string, number>()
      const groundingChunks: JsonObject[] = []
      const groundingSupports: JsonObject[] = []
      for (const { url, title, start, end } of citations) {
        let at = chunks.get(url)
        if (at === undefined) {
          at = groundingChunks.push({ web: { uri: url, title } }) - 1
          chunks.set(url, at)
        }
        if (end <= start) continue
        groundingSupports.push({
          segment: { startIndex: bytesTo(start), endIndex: bytesTo(end), text: text.slice(start, end) },
          groundingChunkIndices: [at],
        })
      }
      return { groundingChunks, ...(groundingSupports.length > 0 ? { groundingSupports } : {}) }
    },
  }
}

/** Bytes up to each place that is cited, in one pass over the text. */
function byteCounter(text: string, citations: readonly Citation[]): (place: number) => number {
  const places = [...new Set(citations.flatMap(({ start, end }) => [start, end]))].sort((a, b) => a - b)
  const counted = new Map<number, number>()
  let at = 0
  let bytes = 0
  for (const place of places) {
    const end = Math.min(Math.max(place, at), text.length)
    bytes += Buffer.byteLength(text.slice(at, end))
    at = end
    counted.set(place, bytes)
  }
  return (place) => counted.get(place) ?? 0
}
