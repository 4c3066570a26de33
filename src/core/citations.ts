import type { FileCitation, UrlCitation } from './events.ts'
import type { SearchResult } from './web-access.ts'

/** A Markdown link to a result, in UTF-16 units of the answer's text. */
interface Citation {
  readonly result: SearchResult
  readonly startIndex: number
  readonly endIndex: number
}

export interface CitationFinder {
  /** The citations that end in the next piece of the text. */
  see(piece: string): Citation[]
}

/** Brackets that are open at the same time; older ones are forgotten. */
const MOST_OPEN = 8
const LONGEST_ADDRESS = 2_000
/** Of an answer, and characters of it that are looked at: an answer that a page dictates may be links alone. */
const MOST_CITATIONS = 1_000
const MOST_CHARACTERS = 1_000_000
/** Of the source's text, in each citation. */
const CITED_CHARACTERS = 500

/**
 * Finds `[text](address)` in a text that arrives in pieces, where the address is that of a result. One pass, with a bounded
 * memory of the text.
 */
export function findCitations(results: readonly SearchResult[]): CitationFinder {
  const byAddress = new Map(results.map((result) => [sameAddress(result.url), result]))
  let at = 0
  let left = MOST_CITATIONS
  let open: number[] = []
  /** Where the link began whose text has just been closed. */
  let closed: number | null = null
  let link: { start: number; address: string } | null = null

  function step(char: string): Citation | null {
    if (link !== null) {
      if (char === ')') {
        const { start, address } = link
        link = null
        const result = byAddress.get(sameAddress(address.split(/\s/, 1)[0] ?? ''))
        return result ? { result, startIndex: start, endIndex: at + 1 } : null
      }
      if (char === '\n' || link.address.length === LONGEST_ADDRESS) link = null
      else link.address += char
      return null
    }
    if (char === '(' && closed !== null) link = { start: closed, address: '' }
    closed = null
    if (char === '[') open = [...open.slice(1 - MOST_OPEN), at]
    else if (char === ']') closed = open.pop() ?? null
    return null
  }

  return {
    see(piece) {
      const found: Citation[] = []
      if (byAddress.size === 0) return found
      for (let i = 0; i < piece.length && left > 0 && at < MOST_CHARACTERS; i++) {
        const citation = step(piece.charAt(i))
        at += 1
        if (citation === null) continue
        found.push(citation)
        left -= 1
      }
      return found
    },
  }
}

/** The citation as an event has it. */
export const annotationOf = ({
  result: { url, title, text, fileId },
  startIndex,
  endIndex,
}: Citation): UrlCitation | FileCitation =>
  fileId === undefined
    ? { type: 'url_citation', url, title, content: text.slice(0, CITED_CHARACTERS), startIndex, endIndex }
    : {
        type: 'file_citation',
        fileId,
        filename: title,
        content: text.slice(0, CITED_CHARACTERS),
        startIndex,
        endIndex,
      }

/** Models leave out a fragment, a final slash, or the brackets of `<address>`. */
function sameAddress(address: string): string {
  const url = URL.parse(address.replace(/^<|>$/g, ''))
  if (url === null) return address
  url.hash = ''
  return url.href.endsWith('/') ? url.href.slice(0, -1) : url.href
}
