import type { InferenceEvent, JsonObject, UrlCitation } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import { checkAnnotations } from '../reply-bounds.ts'

/** The annotations of one reply, each told once although chunks repeat them. */
export interface Citations {
  /** `annotations` of a message or delta, as OpenAI and OpenRouter send them. */
  addAnnotations(choice: number, annotations: readonly unknown[], events: InferenceEvent[]): void
  /** Perplexity's top-level lists: addresses, and the results that they were taken from. */
  addSources(citations: unknown, searchResults: unknown, events: InferenceEvent[]): void
}

export function createCitations(): Citations {
  // Most replies cite nothing.
  let told: Set<string> | undefined
  let urls: Set<string> | undefined

  function tell(choice: number, key: string, annotation: UrlCitation | JsonObject, events: InferenceEvent[]) {
    const id = `${choice} ${key}`
    told ??= new Set()
    if (told.has(id)) return
    told.add(id)
    events.push({ type: 'annotation', choice, annotation })
  }

  function tellSource(citation: UrlCitation, events: InferenceEvent[]): void {
    urls ??= new Set()
    if (urls.has(citation.url)) return
    urls.add(citation.url)
    events.push({ type: 'annotation', choice: 0, annotation: citation })
  }

  return {
    addAnnotations(choice, annotations, events) {
      checkAnnotations(annotations.length)
      for (const raw of annotations) {
        if (!isObject(raw)) continue
        const citation = readCitation(raw)
        urls ??= new Set()
        if (citation) urls.add(citation.url)
        const key = citation
          ? `${citation.startIndex} ${citation.endIndex} ${citation.url}`
          : JSON.stringify(raw)
        tell(choice, key, citation ?? raw, events)
      }
    },
    addSources(citations, searchResults, events) {
      if (Array.isArray(searchResults)) {
        checkAnnotations(searchResults.length)
        for (const raw of searchResults) {
          const citation = isObject(raw) ? citationOf(raw, raw['snippet']) : undefined
          if (citation) tellSource(citation, events)
        }
      }
      if (!Array.isArray(citations)) return
      checkAnnotations(citations.length)
      for (const raw of citations) {
        const citation = citationOf(isString(raw) ? { url: raw } : raw, undefined)
        if (citation) tellSource(citation, events)
      }
    },
  }
}

/** `{type, url_citation: {url, …}}`, or the same fields beside `type`; undefined for annotations of other types. */
const readCitation = (raw: JsonObject): UrlCitation | undefined => {
  if (raw['type'] !== 'url_citation') return undefined
  const inner = isObject(raw['url_citation']) ? raw['url_citation'] : raw
  return citationOf(inner, inner['content'])
}

function citationOf(raw: unknown, content: unknown): UrlCitation | undefined {
  if (!isObject(raw) || !isString(raw['url']) || raw['url'] === '') return undefined
  return {
    type: 'url_citation',
    url: raw['url'],
    title: isString(raw['title']) && raw['title'] !== '' ? raw['title'] : raw['url'],
    ...(isString(content) && content !== '' ? { content } : {}),
    startIndex: indexOf(raw['start_index']),
    endIndex: indexOf(raw['end_index']),
  }
}

const indexOf = (value: unknown): number => (Number.isSafeInteger(value) ? Number(value) : 0)
