import { isObject } from '../../core/json.ts'

/** What is kept of one question, and of one answer: characters of its JSON text, about. */
export const MOST_CHARACTERS = 5_000_000
/** Marks a truncated place. */
export const cutMark = (what: string): string => `… [cut by the log: ${what}]`

/** A number as JSON writes it, about: vectors have millions. */
const NUMBER_CHARACTERS = 12
const FRAME_CHARACTERS = 4
/** Strings are not cut shorter than this: what is that long was written by a person. */
const LEAST_KEPT = 1_000

/** How many characters a JSON value has as text, about. Notes the lengths of strings that may be cut. */
export function weigh(value: unknown, lengths?: number[]): number {
  if (typeof value === 'string') {
    if (value.length > LEAST_KEPT) lengths?.push(value.length)
    return value.length + FRAME_CHARACTERS
  }
  if (Array.isArray(value)) {
    // A vector is not looked through.
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
 * The value itself if it is short enough; else a copy with its longest strings truncated to one length, so that text
 * beside a large file stays complete. If that is not enough, lists are truncated as well. Each place is marked.
 */
export function limited(value: unknown, most = MOST_CHARACTERS): unknown {
  const lengths: number[] = []
  const weight = weigh(value, lengths)
  if (weight <= most) return value
  const longest = longestFor(lengths, weight - most)
  const room = { left: most }
  return copied(value, longest, room)
}

/** The greatest length at which cutting all longer strings saves as much. */
function longestFor(lengths: number[], excess: number): number {
  lengths.sort((a, b) => b - a)
  let sum = 0
  for (const [index, length] of lengths.entries()) {
    sum += length
    const next = Math.max(lengths[index + 1] ?? 0, LEAST_KEPT)
    // The first strings down to the length of the next one.
    if (sum - (index + 1) * next >= excess) return Math.floor((sum - excess) / (index + 1))
  }
  return LEAST_KEPT
}

function copied(value: unknown, longest: number, room: { left: number }): unknown {
  if (typeof value === 'string') {
    const text = shortened(value, longest)
    room.left -= text.length + FRAME_CHARACTERS
    return text
  }
  if (Array.isArray(value)) return copiedList(value, longest, room)
  room.left -= FRAME_CHARACTERS
  if (!isObject(value)) return value
  const copy: Record<string, unknown> = {}
  for (const [key, inner] of Object.entries(value)) {
    room.left -= key.length + FRAME_CHARACTERS
    copy[key] = copied(inner, longest, room)
  }
  return copy
}

function copiedList(list: readonly unknown[], longest: number, room: { left: number }): unknown[] {
  const copy: unknown[] = []
  for (const [index, entry] of list.entries()) {
    if (room.left <= 0) {
      copy.push(cutMark(`${list.length - index} more entries`))
      break
    }
    if (typeof entry === 'number') room.left -= NUMBER_CHARACTERS - FRAME_CHARACTERS
    copy.push(copied(entry, longest, room))
  }
  return copy
}

/** A copy: a slice of a string would keep the original in memory. */
export const shortened = (text: string, most: number): string =>
  text.length <= most
    ? text
    : Buffer.from(text.slice(0, most)).toString() + cutMark(`${text.length - most} more characters`)
