import type { JsonObject } from '../../core/json.ts'
import type { Price } from '../../core/money.ts'
import type { SearchLocation, SearchResult } from '../../core/web-access.ts'
import type { OutboundAllow } from '../../net/address.ts'

/** In the order in which `auto` takes the first configured one. */
export const ENGINE_NAMES = [
  'exa',
  'parallel',
  'perplexity',
  'tavily',
  'brave',
  'firecrawl',
  'searxng',
] as const
export type EngineName = (typeof ENGINE_NAMES)[number]

/** What a caller may set. Domains are patterns of `domains.ts`. */
export interface SearchOptions {
  readonly maxResults: number
  readonly includeDomains: readonly string[]
  readonly excludeDomains: readonly string[]
  /** The longest text of one result. */
  readonly maxCharacters: number
  readonly location?: SearchLocation
  /** A word of the engine itself: one of its `modes`. */
  readonly mode?: string
}

/** What the operator configured of one engine. */
export interface EngineAccess {
  /** Null: the engine needs none. */
  readonly key: string | null
  /** Without a trailing slash. */
  readonly url: string
  /** The engine's own address, if the operator set one: it may be private. */
  readonly allow: OutboundAllow
  readonly price: EnginePrice
}

/** USD of one search with up to ten results, and of each result beyond ten. */
export interface EnginePrice {
  readonly search: Price
  readonly further: Price
}

/** One request to an engine. `path` follows the engine's address. */
interface EngineCall {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Absent: a GET. */
  readonly body?: JsonObject
}

/** One engine: how to ask it and how to read its answer. `search.ts` does the rest for all of them. */
export interface SearchEngine {
  readonly name: EngineName
  /** For sentences. */
  readonly title: string
  /** Null: only the operator knows it. */
  readonly url: string | null
  /** The setting without which it cannot be used. */
  readonly setting: `SLUICE_${string}`
  readonly mostResults: number
  /** A longer query is cut: engines refuse it. */
  readonly longestQuery: number
  readonly modes?: readonly string[]
  /** USD, as in `EnginePrice`: `0.007+0.001`. */
  readonly price: string
  call(query: string, options: SearchOptions, key: string | null): EngineCall
  read(answer: JsonObject): readonly SearchResult[]
}

/** The fields of a result, whatever the engine calls them. */
export const resultOf = (url: unknown, title: unknown, text: unknown, published: unknown): SearchResult => ({
  url: typeof url === 'string' ? url : '',
  title: typeof title === 'string' ? title : '',
  text: typeof text === 'string' ? text : '',
  ...(typeof published === 'string' && published !== '' ? { published } : {}),
})

/** A list that is absent if it is empty: engines refuse an empty filter, or find nothing with it. */
export const filled = <T>(list: readonly T[]): readonly T[] | undefined =>
  list.length === 0 ? undefined : list
