import type { JsonObject, UrlCitation } from '../../core/events.ts'
import { asText, defined, fieldsOf, isObject, isString, objectsIn } from '../../core/json.ts'
import { urlCitation } from '../citation.ts'

/**
 * | location | annotation |
 * |---|---|
 * | `web` | `url_citation` |
 * | `documentChar` | `char_location` |
 * | `documentPage` | `page_location` |
 * | `documentChunk` | `content_block_location` |
 * | `searchResultLocation` | `search_result_location` |
 *
 * Citations of documents come from Claude, so they get Anthropic's names.
 */
const PLACES = {
  documentChar: { type: 'char_location', start: 'start_char_index', end: 'end_char_index' },
  documentPage: { type: 'page_location', start: 'start_page_number', end: 'end_page_number' },
  documentChunk: { type: 'content_block_location', start: 'start_block_index', end: 'end_block_index' },
  searchResultLocation: {
    type: 'search_result_location',
    start: 'start_block_index',
    end: 'end_block_index',
  },
} as const

/** `startIndex`, `endIndex`: the cited piece of the answer, in UTF-16 units. */
export function annotationOf(
  citation: JsonObject,
  startIndex: number,
  endIndex: number,
): UrlCitation | JsonObject {
  const location = fieldsOf(citation['location'])
  const title = asText(citation['title'])
  const content = quoteOf(citation['sourceContent'])
  const url = addressOf(location, citation['source'])
  if (url !== undefined) return urlCitation(url, title, content, { startIndex, endIndex })
  return defined({
    ...placeOf(location, title),
    cited_text: content === '' ? undefined : content,
    start_index: startIndex,
    end_index: endIndex,
  })
}

/** A page on the web: from Nova's grounding, or the source of a search result that the caller sent. */
function addressOf({ web }: JsonObject, source: unknown): string | undefined {
  const url = isObject(web) ? web['url'] : source
  return isString(url) && /^https?:/i.test(url) ? url : undefined
}

function placeOf(location: JsonObject, title: string | undefined): JsonObject {
  for (const [name, { type, start, end }] of Object.entries(PLACES)) {
    const place = location[name]
    if (!isObject(place)) continue
    const isSearch = name === 'searchResultLocation'
    return {
      type,
      [start]: place['start'],
      [end]: place['end'],
      ...(isSearch
        ? { search_result_index: place['searchResultIndex'], title }
        : { document_index: place['documentIndex'], document_title: title }),
    }
  }
  return { type: 'citation', location, title }
}

const quoteOf = (pieces: unknown): string =>
  objectsIn(pieces)
    .map(({ text }) => asText(text) ?? '')
    .join('')
