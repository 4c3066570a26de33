import { isObject } from '../../core/json.ts'

/** The maximum of one logged input or output, in approximate characters of JSON text. */
export const MOST_CHARACTERS = 5_000_000
/** Marks a truncated place. */
export const truncationMark = (what: string): string => `… [truncated in the log: ${what}]`

/** Assumed length of a number in JSON text. Vectors have millions. */
const NUMBER_CHARACTERS = 12
const FRAME_CHARACTERS = 4
/** Shorter strings are never truncated. */
const SHORTEST_TRUNCATED = 1_000

/** The approximate length of a value as JSON text. Adds the lengths of strings that may be truncated to `lengths`. */
export function weigh(value: unknown, lengths?: number[]): number {
  if (typeof value === 'string') {
    if (value.length > SHORTEST_TRUNCATED) lengths?.push(value.length)
    return value.length + FRAME_CHARACTERS
  }
  if (Array.isArray(value)) {
    // A vector: its numbers are not visited.
    if (typeof value[0] === 'number') return value.length * NUMBER_CHARACTERS
    let sum = FRAME_CHARACTERS
    for (const entry of value) sum += weigh(entry, lengths)
    return sum
  }
  if (!isObject(value)) return NUMBER_CHARACTERS
  let sum = FRAME_CHARACTERS
  for (const key in value) sum += key.length + FRAME_CHARACTERS + weigh(value[key], lengths)
  return sum
}

/**
 * The value itself if it is short enough; else a copy with its longest strings truncated to a common length, so that text
 * beside a large file stays complete. If that does not suffice, lists are truncated as well. Each place is marked.
 */
export function limited(value: unknown, most = MOST_CHARACTERS): unknown {
  const lengths: number[] = []
  const weight = weigh(value, lengths)
  if (weight <= most) return value
  const longest = longestFor(lengths, weight - most)
  const remaining = { left: most }
  return copied(value, longest, remaining)
}

/** The greatest length to which longer strings must be truncated to save `excess` characters. */
function longestFor(lengths: number[], excess: number): number {
  lengths.sort((a, b) => b - a)
  let sum = 0
  for (const [index, length] of lengths.entries()) {
    sum += length
    const next = Math.max(lengths[index + 1] ?? 0, SHORTEST_TRUNCATED)
    // Truncating the longest strings to the length of the next one suffices.
    if (sum - (index + 1) * next >= excess) return Math.floor((sum - excess) / (index + 1))
  }
  return SHORTEST_TRUNCATED
}

function copied(value: unknown, longest: number, remaining: { left: number }): unknown {
  if (typeof value === 'string') {
    const text = shortened(value, longest)
    remaining.left -= text.length + FRAME_CHARACTERS
    return text
  }
  if (Array.isArray(value)) return copiedList(value, longest, remaining)
  remaining.left -= FRAME_CHARACTERS
  if (!isObject(value)) return value
  const copy: Record<string, unknown> = {}
  for (const [key, inner] of Object.entries(value)) {
    remaining.left -= key.length + FRAME_CHARACTERS
    copy[key] = copied(inner, longest, remaining)
  }
  return copy
}

function copiedList(list: readonly unknown[], longest: number, remaining: { left: number }): unknown[] {
  const copy: unknown[] = []
  for (const [index, entry] of list.entries()) {
    if (remaining.left <= 0) {
      copy.push(truncationMark(`${list.length - index} more entries`))
      break
    }
    if (typeof entry === 'number') remaining.left -= NUMBER_CHARACTERS - FRAME_CHARACTERS
    copy.push(copied(entry, longest, remaining))
  }
  return copy
}

/** Copies the text: a slice would keep the original string in memory. */
export const shortened = (text: string, most: number): string =>
  text.length <= most
    ? text
    : Buffer.from(text.slice(0, most)).toString() + truncationMark(`${text.length - most} more characters`)
