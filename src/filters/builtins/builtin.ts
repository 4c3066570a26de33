import type { Span } from '../../core/content-filter.ts'

/** A built-in filter. */
export interface Builtin {
  /** RE2 syntax, never an empty match; joined as alternatives. */
  readonly patterns: readonly string[]
  /** The relevant part of a match, if the pattern cannot express it; absent: all of it. */
  refine?(text: string, match: Span): readonly Span[]
}

export const isDigit = (code: number): boolean => code >= 48 && code <= 57

/** The match, if `isIt` accepts it. */
export const where =
  (isIt: (found: string, text: string, match: Span) => boolean) =>
  (text: string, match: Span): readonly Span[] =>
    isIt(text.slice(match.start, match.end), text, match) ? [match] : []
