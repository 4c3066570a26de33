import type { Refused } from '../../db/file-index.ts'
import type { Embedded, FoundText, Lacking } from '../../db/file-vectors.ts'

/** What the thread of the index does. `index` is the path of the workspace's index. */
export type IndexTask =
  | {
      readonly do: 'add'
      readonly index: string
      readonly id: string
      /** Of the bytes. */
      readonly path: string
      readonly filename: string
      readonly mediaType: string
    }
  | { readonly do: 'refuse'; readonly index: string; readonly id: string; readonly reason: string }
  | {
      readonly do: 'search'
      readonly index: string
      readonly query: string
      readonly ids: readonly string[]
      readonly most: number
      /** That of the query; absent: it is searched for by its words alone. */
      readonly meaning?: QueryVector
    }
  /** How far the index is with these files: `refused` and `unknown`. */
  | { readonly do: 'status'; readonly index: string; readonly ids: readonly string[] }
  | {
      readonly do: 'lacking'
      readonly index: string
      readonly model: string
      readonly ids: readonly string[]
      readonly most: number
    }
  | {
      readonly do: 'embed'
      readonly index: string
      readonly model: string
      readonly vectors: readonly Embedded[]
    }
  | { readonly do: 'remove'; readonly index: string; readonly ids: readonly string[] }
  /** Removes every file but these. */
  | { readonly do: 'keep'; readonly index: string; readonly ids: readonly string[] }

export interface QueryVector {
  readonly model: string
  /** Of length 1. */
  readonly vector: Float32Array
}

export interface IndexAnswer {
  readonly found: readonly FoundText[]
  readonly refused: readonly Refused[]
  /** Those of the searched files that the index does not know yet. */
  readonly unknown: readonly string[]
  readonly lacking: readonly Lacking[]
  /** The task failed. */
  readonly error: string | null
}

export const NOTHING: IndexAnswer = { found: [], refused: [], unknown: [], lacking: [], error: null }
