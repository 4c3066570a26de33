/** One filter of a guardrail. */
export interface ContentFilter {
  readonly action: 'redact' | 'block' | 'flag'
  /** What callers and records are told of it: its label, else its slug, else its pattern. Never what it matched. */
  readonly name: string
  /** Null: a pattern of one's own. */
  readonly slug: string | null
  /** Stands in the place of what was redacted. */
  readonly placeholder: string
  /** Looks at what the user wrote alone. */
  readonly userOnly: boolean
}

/** Half-open, in UTF-16 units. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface FilterMatch {
  readonly filter: ContentFilter
  /** What is to be redacted, ascending and apart; empty for the other actions. */
  readonly spans: readonly Span[]
}

/** How much may still be done for one request. `spend` throws `OverBudget` when it is used up. */
export interface ScanBudget {
  spend(units: number): void
}

/** The request would take longer to scan than is allowed: it must not pass. */
export class OverBudget extends Error {
  constructor() {
    super('the budget for content filters is used up')
    this.name = 'OverBudget'
  }
}

/** The filters of one guardrail. */
export interface ContentFilters {
  /** Those that match. Throws `OverBudget`. */
  scan(text: string, isUser: boolean, budget: ScanBudget): FilterMatch[]
}
