/** One filter of a guardrail. */
export interface ContentFilter {
  readonly action: 'redact' | 'block' | 'flag'
  /** Its name in replies and records: the label, else the slug, else the pattern. Never the matched text. */
  readonly name: string
  /** Null: a custom pattern. */
  readonly slug: string | null
  /** Replaces redacted text. */
  readonly placeholder: string
  /** Scans only the messages of the user. */
  readonly userOnly: boolean
}

/** Half-open, in UTF-16 units. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface FilterMatch {
  readonly filter: ContentFilter
  /** The spans to redact, ascending and disjoint; empty for the actions `block` and `flag`. */
  readonly spans: readonly Span[]
}

/** Remaining scan work of one request. `spend` throws `OverBudget` once it is used up. */
export interface ScanBudget {
  spend(units: number): void
  /** True once the scan has held the thread long enough: other requests should run before it continues. */
  readonly isPauseDue?: boolean
}

/** Work in slices: yields when a pause is due. `finished` runs it without pauses. */
export type Steps<Value> = Generator<undefined, Value, undefined>

/** Filters that change or reject a request, or those that only record matches (`flag`). */
export type Purpose = 'rewriting' | 'recording'

/** The text would take longer to scan than is allowed: filters that redact or block refuse it. */
export class OverBudget extends Error {
  constructor() {
    super('the budget for content filters is used up')
    this.name = 'OverBudget'
  }
}

/** Scans a text that arrives in pieces. */
export interface TextScan {
  /**
   * Scans the next text and returns the pieces that may be sent now, in order and without gaps. Throws `OverBudget`.
   * After a piece of kind `blocked` it returns nothing.
   */
  push(text: string): readonly Piece[]
  /** The text ends here: returns the rest. */
  end(): readonly Piece[]
}

export interface Piece {
  /** The text to send. */
  readonly text: string
  /** The UTF-16 units of the original text that it replaces. */
  readonly length: number
  /** `replaced`: a placeholder. `blocked`: no text from here on may be sent. */
  readonly kind: 'kept' | 'replaced' | 'blocked'
}

/** One filter that searches a text in pieces. */
export interface Sought {
  readonly filter: ContentFilter
  /** Where it matches from a place on, ascending and apart. Throws `OverBudget`. */
  find(text: string, from: number, budget: ScanBudget): readonly Span[]
}

/** The part of a growing text that has not been sent yet. Places count from the start of the text. */
export interface Window {
  /** The text before `held` that a filter may look back at. */
  readonly before: string
  readonly held: string
  /** The place of `held`. */
  readonly base: number
}

/** The automata of several filters over a growing text. */
export interface Watch {
  /** The text goes on: `fresh` is the last of `held`. Throws `OverBudget`. */
  read(window: Window, fresh: string, budget: ScanBudget): void
  /** The text ends here. */
  end(window: Window, budget: ScanBudget): void
  /** No match that is under way, or is yet to come, begins before this place. */
  safeTo(length: number): number
  /** Where the last known match of each filter ended. The reader deletes an entry after handling it. */
  readonly hits: Map<Sought, number>
}

/** The filters of one guardrail on replies. */
export interface OutputFilters {
  /** Redacts or blocks; false: all of them only record. */
  readonly rewrites: boolean
  /** True for filters of this guardrail. */
  holds(filter: ContentFilter): boolean
  /** Compiles them in slices, once; `open` compiles what is not compiled yet in one go. */
  compile(): Steps<void>
  /** For a new text: of those that redact and block, or of those that only record. */
  open(which: Purpose): readonly Watch[]
}

/** The filters of one guardrail. */
export interface ContentFilters {
  /** Some filters apply to requests. */
  readonly holdOnInput: boolean
  /** Absent: no filter applies to replies. */
  readonly output?: OutputFilters
  /** Filters on the request that match this text. Throws `OverBudget`. */
  scan(text: string, isUser: boolean, which: Purpose, budget: ScanBudget): Steps<FilterMatch[]>
}
