import type { Span } from '../../core/content-filter.ts'

/** What is looked for without a pattern of one's own. */
export interface Builtin {
  /** RE2 syntax, never an empty match; joined as alternatives. */
  readonly patterns: readonly string[]
  /** What of a match it is, where the pattern alone does not say; absent: all of it. */
  refine?(text: string, match: Span): readonly Span[]
}

export const isDigit = (code: number): boolean => code >= 48 && code <= 57

/** The match, if `isIt` accepts it. */
export const where =
  (isIt: (found: string, text: string, match: Span) => boolean) =>
  (text: string, match: Span): readonly Span[] =>
    isIt(text.slice(match.start, match.end), text, match) ? [match] : []
