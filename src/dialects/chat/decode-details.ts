import type { InferenceEvent, JsonObject, UrlCitation } from '../../core/events.ts'
import { asObject, isObject, isString, isText } from '../../core/json.ts'
import { placeOf, urlCitation } from '../citation.ts'
import { checkAnnotations } from '../reply-decoder.ts'

/** The annotations of one reply, each emitted once although chunks repeat them. */
export interface Citations {
  /** `annotations` of a message or delta, as OpenAI and OpenRouter send them. */
  addAnnotations(choice: number, annotations: readonly unknown[], events: InferenceEvent[]): void
  /** Perplexity's top-level lists: addresses, and the results that they were taken from. */
  addSources(citations: unknown, searchResults: unknown, events: InferenceEvent[]): void
}

export function createCitations(): Citations {
  // Most replies cite nothing.
  let emitted: Set<string> | undefined
  let urls: Set<string> | undefined

  function emit(choice: number, key: string, annotation: UrlCitation | JsonObject, events: InferenceEvent[]) {
    const id = `${choice} ${key}`
    emitted ??= new Set()
    if (emitted.has(id)) return
    emitted.add(id)
    events.push({ type: 'annotation', choice, annotation })
  }

  function emitSource(citation: UrlCitation, events: InferenceEvent[]): void {
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
        emit(choice, key, citation ?? raw, events)
      }
    },
    addSources(citations, searchResults, events) {
      if (Array.isArray(searchResults)) {
        checkAnnotations(searchResults.length)
        for (const raw of searchResults) {
          const citation = isObject(raw) ? citationOf(raw, raw['snippet']) : undefined
          if (citation) emitSource(citation, events)
        }
      }
      if (!Array.isArray(citations)) return
      checkAnnotations(citations.length)
      for (const raw of citations) {
        const citation = citationOf(isString(raw) ? { url: raw } : raw, undefined)
        if (citation) emitSource(citation, events)
      }
    },
  }
}

/** `{type, url_citation: {url, …}}`, or the same fields beside `type`; undefined for annotations of other types. */
const readCitation = (raw: JsonObject): UrlCitation | undefined => {
  if (raw['type'] !== 'url_citation') return undefined
  const inner = asObject(raw['url_citation']) ?? raw
  return citationOf(inner, inner['content'])
}

function citationOf(raw: unknown, content: unknown): UrlCitation | undefined {
  if (!isObject(raw) || !isText(raw['url'])) return undefined
  const { url, title, start_index: start, end_index: end } = raw
  return urlCitation(String(url), title, content, { startIndex: placeOf(start), endIndex: placeOf(end) })
}

/**
 * Reads `logprobs` in the form that every client parses: `content` is a list of tokens, each with `bytes` and
 * `top_logprobs`, or null. Fields of another form stay beside it. `{content: null, refusal: null}` counts as empty.
 * A number is that of `text`, what the same chunk adds: Together's streams (together-py, `ChatCompletionChunk`, 2026).
 */
export function readLogprobs(
  logprobs: unknown,
  text: unknown,
  choice: number,
  events: InferenceEvent[],
): void {
  if (typeof logprobs === 'number' && isText(text)) {
    const content = [completed({ token: text, logprob: logprobs })]
    events.push({ type: 'logprobs', choice, logprobs: { content } })
  }
  if (!isObject(logprobs)) return
  const says = Object.values(logprobs).some((value) =>
    Array.isArray(value) ? value.length > 0 : value !== null,
  )
  if (!says) return
  const { content, refusal, tokens, token_logprobs: values } = logprobs
  const read = {
    ...logprobs,
    content: Array.isArray(content) ? content.map(completed) : sideBySide(tokens, values),
    ...(Array.isArray(refusal) ? { refusal: refusal.map(completed) } : {}),
  }
  events.push({ type: 'logprobs', choice, logprobs: read })
}

/** Together's unary replies (together-py, `LogProbs`, 2026): tokens in one list, their values in another. */
function sideBySide(tokens: unknown, values: unknown): unknown[] | null {
  if (!Array.isArray(tokens) || !Array.isArray(values)) return null
  return tokens.flatMap((token: unknown, index) => {
    const logprob: unknown = values[index]
    return isString(token) && typeof logprob === 'number' ? [completed({ token, logprob })] : []
  })
}

/** With what clients take for granted on a token, and on each that was likely in its place. */
function completed(token: unknown): unknown {
  if (!isObject(token)) return token
  const { bytes = null, top_logprobs: others } = token
  // Most tokens are complete, and there may be hundreds of thousands.
  if (token.bytes !== undefined && Array.isArray(others) && others.every(hasBytes)) return token
  return { ...token, bytes, top_logprobs: Array.isArray(others) ? others.map(withBytes) : [] }
}

const hasBytes = (token: unknown): boolean => !isObject(token) || token.bytes !== undefined

const withBytes = (token: unknown): unknown => (isObject(token) ? { bytes: null, ...token } : token)
