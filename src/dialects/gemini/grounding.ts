import type { InferenceEvent, JsonObject, UrlCitation } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import { checkAnnotations } from '../reply-bounds.ts'
import { bytePlaces } from '../text-places.ts'

/** The sources of one candidate, each told once although chunks repeat them. */
export interface Grounding {
  /** More of the answer's text: Google counts places in it in UTF-8 bytes, we in characters. */
  addText(text: string): void
  /** `groundingMetadata` and `citationMetadata` of a candidate. */
  addSources(candidate: JsonObject, events: InferenceEvent[]): void
  /** Searches that were made so far. */
  searches(): number
}

export function createGrounding(choice: number): Grounding {
  const told = new Set<string>()
  const queries = new Set<string>()
  const text = bytePlaces()

  function tell(citation: Omit<UrlCitation, 'type'>, events: InferenceEvent[]): void {
    const key = `${citation.startIndex} ${citation.endIndex} ${citation.url}`
    if (told.has(key)) return
    told.add(key)
    events.push({ type: 'annotation', choice, annotation: { type: 'url_citation', ...citation } })
  }

  function placesOf({ startIndex, endIndex }: JsonObject) {
    if (!isIndex(endIndex)) return { startIndex: 0, endIndex: 0 }
    const charactersTo = (end: number): number => Math.min(text.length, text.unitsTo(end))
    return {
      startIndex: isIndex(startIndex) ? charactersTo(startIndex) : 0,
      endIndex: charactersTo(endIndex),
    }
  }

  function addSupports(metadata: JsonObject, events: InferenceEvent[]): void {
    checkAnnotations(listOf(metadata['groundingChunks']).length)
    checkAnnotations(listOf(metadata['groundingSupports']).length)
    const chunks = listOf(metadata['groundingChunks']).map(sourceOf)
    const supported = new Set<unknown>()
    for (const support of listOf(metadata['groundingSupports'])) {
      if (!isObject(support)) continue
      const segment = isObject(support['segment']) ? support['segment'] : {}
      const content = isString(segment['text']) && segment['text'] !== '' ? { content: segment['text'] } : {}
      for (const index of listOf(support['groundingChunkIndices'])) {
        const source = typeof index === 'number' ? chunks[index] : undefined
        supported.add(index)
        if (source) tell({ ...source, ...content, ...placesOf(segment) }, events)
      }
    }
    chunks.forEach((source, index) => {
      if (source && !supported.has(index)) tell({ ...source, startIndex: 0, endIndex: 0 }, events)
    })
    for (const query of listOf(metadata['webSearchQueries'])) {
      if (isString(query) && query !== '') queries.add(query)
    }
  }

  return {
    addText(more) {
      text.add(more)
    },
    addSources({ groundingMetadata, citationMetadata }, events) {
      if (isObject(groundingMetadata)) addSupports(groundingMetadata, events)
      if (!isObject(citationMetadata)) return
      // Vertex names the list `citations`, AI Studio `citationSources`.
      for (const name of ['citations', 'citationSources']) {
        for (const raw of listOf(citationMetadata[name])) {
          checkAnnotations(told.size)
          const source = isObject(raw) ? namedSource(raw) : undefined
          if (source && isObject(raw)) tell({ ...source, ...placesOf(raw) }, events)
        }
      }
    },
    searches: () => queries.size,
  }
}

/** A chunk is of the web, of a document store, or of maps. */
function sourceOf(chunk: unknown): { url: string; title: string } | undefined {
  if (!isObject(chunk)) return undefined
  const source = [chunk['web'], chunk['retrievedContext'], chunk['maps']].find(isObject)
  return source && namedSource(source)
}

function namedSource({ uri, title }: JsonObject): { url: string; title: string } | undefined {
  if (!isString(uri) || uri === '') return undefined
  return { url: uri, title: isString(title) && title !== '' ? title : uri }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const isIndex = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
