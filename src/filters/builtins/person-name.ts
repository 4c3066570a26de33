import { type Builtin, where } from './builtin.ts'

const STARTS_IN_WORD = /[\p{L}\p{N}_]$/u
const GOES_ON = /^[\p{L}\p{N}_]/u

/**
 * Names of people, from a list, because no pattern distinguishes them from other words. Case-sensitive (Will is not will),
 * complete words only, with any blanks or line ends between the parts of a name.
 */
export const personName = (names: readonly string[]): Builtin => ({
  // Longer names first: of `Ann Lee` and `Ann` the longer one is found.
  patterns: [...new Set(names)].toSorted((one, other) => other.length - one.length).map(patternOf),
  refine: where(
    (_, text, { start, end }) => !STARTS_IN_WORD.test(before(text, start)) && !GOES_ON.test(after(text, end)),
  ),
})

const patternOf = (name: string): string =>
  name
    .split(/\s+/)
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`))
    .join(String.raw`\s+`)

/** A letter may have two units. */
const before = (text: string, at: number): string => text.slice(Math.max(0, at - 2), at)
const after = (text: string, at: number): string => text.slice(at, at + 2)
