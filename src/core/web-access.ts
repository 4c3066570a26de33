/** The web, as plugins and tools reach it: through the operator's search engines and the guarded client. */
export interface WebAccess {
  /**
   * Chooses the engine and checks the options. Throws a 400 whose place begins with `place` for an engine that is not
   * configured and for what it cannot do.
   */
  prepareSearch(wanted: WantedSearch, place: string): PreparedSearch
  /**
   * Throws a `GatewayError` that says why a page could not be read. A page is fetched once for as long as `run`, an object
   * of the request, is alive.
   */
  fetchPage(url: string, options: FetchOptions, signal: AbortSignal, run: object): Promise<FetchedPage>
  /** Patterns of sites in lower case. Throws a 400 that names the place of an invalid pattern. */
  readDomains(patterns: readonly string[], place: string): readonly string[]
  /** Ends what is being read. */
  close(): void
}

/** A search as a caller sets it. */
export interface WantedSearch {
  /** Absent or `auto`: the first engine that is configured. */
  readonly engine?: string
  readonly maxResults?: number
  readonly includeDomains?: readonly string[]
  readonly excludeDomains?: readonly string[]
  /** The longest text of one result. */
  readonly maxCharacters?: number
  readonly contextSize?: string
  readonly location?: SearchLocation
  /** A word of the engine itself. */
  readonly mode?: string
}

export interface SearchLocation {
  readonly city?: string
  readonly region?: string
  /** Two letters, ISO 3166-1. */
  readonly country?: string
  readonly timezone?: string
}

interface PreparedSearch {
  /** The slug of the engine. */
  readonly engine: string
  readonly maxResults: number
  readonly atMostNanoUsd: number
  /** Throws a `GatewayError` that names the engine. */
  run(query: string, signal: AbortSignal): Promise<Found>
}

interface Found {
  readonly results: readonly SearchResult[]
  readonly costNanoUsd: number
}

export interface SearchResult {
  readonly url: string
  readonly title: string
  readonly text: string
  /** As the engine wrote it. */
  readonly published?: string
  /** It is a passage of an uploaded file, and `url` is the file's id. */
  readonly fileId?: string
}

export interface FetchOptions {
  /** Patterns of sites. Empty: all. */
  readonly allowedDomains: readonly string[]
  readonly blockedDomains: readonly string[]
  readonly mostCharacters: number
}

export interface FetchedPage {
  /** After redirects. */
  readonly url: string
  readonly title: string
  readonly text: string
  readonly published?: string
  /** The page has more text. */
  readonly isCut: boolean
}
