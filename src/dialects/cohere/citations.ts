import type { InferenceEvent, JsonObject, UrlCitation } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import { characterPlaces } from '../text-places.ts'

/** The visible text of one reply, and the citations that point into it. */
export interface Citations {
  /** A block of text begins: places are told from its start. */
  startText(contentIndex: number): void
  addText(text: string): void
  /** One entry of `citations`. */
  add(raw: unknown, events: InferenceEvent[]): void
}

/**
 * A source with an address is a `url_citation`; documents that the caller sent and results of tools are one
 * `file_citation` for the whole citation, with Cohere's own `sources` beside it.
 */
export function createCitations(): Citations {
  const starts = new Map<number, number>()
  const text = characterPlaces()
  let lastStart = 0
  let count = 0

  /** Cohere counts characters, we count UTF-16 units. */
  function placesOf({ start, end, type, content_index }: JsonObject) {
    // Thoughts and plans are no visible text.
    if (isString(type) && type !== 'TEXT_CONTENT') return { startIndex: 0, endIndex: 0 }
    const from = (typeof content_index === 'number' ? starts.get(content_index) : undefined) ?? lastStart
    const unitsTo = (place: unknown): number =>
      Number.isSafeInteger(place) && Number(place) >= 0 ? text.unitsTo(Number(place), from) : 0
    return { startIndex: unitsTo(start), endIndex: unitsTo(end) }
  }

  return {
    startText(contentIndex) {
      lastStart = text.length
      starts.set(contentIndex, lastStart)
    },
    addText(more) {
      text.add(more)
    },
    add(raw, events) {
      if (!isObject(raw)) return
      const sources = Array.isArray(raw['sources']) ? raw['sources'].filter(isObject) : []
      const places = placesOf(raw)
      const pages = sources.flatMap((source) => pageOf(source, raw['text'], places))
      for (const annotation of pages) events.push({ type: 'annotation', choice: 0, annotation })
      if (pages.length === 0) {
        const annotation = fileCitation(raw, sources, places, count)
        events.push({ type: 'annotation', choice: 0, annotation })
      }
      count++
    },
  }
}

type Places = Pick<UrlCitation, 'startIndex' | 'endIndex'>

function pageOf(source: JsonObject, cited: unknown, places: Places): UrlCitation[] {
  const { url, title } = detailsOf(source)
  if (!isString(url) || !/^https?:/i.test(url)) return []
  return [
    {
      type: 'url_citation',
      url,
      title: isString(title) && title !== '' ? title : url,
      ...(isString(cited) && cited !== '' ? { content: cited } : {}),
      ...places,
    },
  ]
}

function fileCitation(
  raw: JsonObject,
  sources: readonly JsonObject[],
  { startIndex, endIndex }: Places,
  index: number,
): JsonObject {
  const first = sources[0] ?? {}
  const id = isString(first['id']) ? first['id'] : ''
  const { title } = detailsOf(first)
  return {
    type: 'file_citation',
    file_id: id,
    filename: isString(title) && title !== '' ? title : id,
    index,
    start_index: startIndex,
    end_index: endIndex,
    cited_text: isString(raw['text']) ? raw['text'] : '',
    sources,
  }
}

/** What the source is: a document, or what a tool answered. */
const detailsOf = (source: JsonObject): JsonObject =>
  [source['document'], source['tool_output']].find(isObject) ?? {}
