import type { FoundText } from '../../db/file-vectors.ts'
import type { IndexTask } from './task.ts'

/** Of each way to search, if there are two. */
const LEAST_CANDIDATES = 100

export const candidatesOf = ({ most, meaning }: Extract<IndexTask, { do: 'search' }>): number =>
  meaning === undefined ? most : Math.max(most, LEAST_CANDIDATES)

/** The usual constant: the first places of a list differ little. */
const SMOOTHING = 60

/**
 * Reciprocal rank fusion: a passage gets 1 / (60 + its place) from each list that has it. Best first, with the sum below 0
 * as the rank.
 */
export function fused(lists: readonly (readonly FoundText[])[]): FoundText[] {
  const sums = new Map<string, { found: FoundText; sum: number }>()
  for (const list of lists) {
    for (const [place, found] of list.entries()) {
      const key = `${found.fileId} ${found.text}`
      const sum = (sums.get(key)?.sum ?? 0) + 1 / (SMOOTHING + place + 1)
      sums.set(key, { found, sum })
    }
  }
  return [...sums.values()]
    .map(({ found, sum }) => ({ ...found, rank: -sum }))
    .sort((left, right) => left.rank - right.rank)
}
