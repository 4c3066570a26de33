import type { FoundText, Refused } from '../../db/file-index.ts'

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
    }
  | { readonly do: 'remove'; readonly index: string; readonly ids: readonly string[] }
  /** Removes every file but these. */
  | { readonly do: 'keep'; readonly index: string; readonly ids: readonly string[] }

export interface IndexAnswer {
  readonly found: readonly FoundText[]
  readonly refused: readonly Refused[]
  /** Those of the searched files that the index does not know yet. */
  readonly unknown: readonly string[]
  /** The task failed. */
  readonly error: string | null
}

export const NOTHING: IndexAnswer = { found: [], refused: [], unknown: [], error: null }
