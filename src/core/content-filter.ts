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
  /** The thread has been held long enough: other requests should run before this scan goes on. */
  readonly isPauseDue?: boolean
}

/** Work in slices: yields when a pause is due. `finished` runs it without pauses. */
export type Steps<Value> = Generator<undefined, Value, undefined>

/** Filters that change or refuse a request, or those that only record what they find (`flag`). */
export type Purpose = 'rewriting' | 'recording'

/** The text would take longer to scan than is allowed: filters that redact or block refuse it. */
export class OverBudget extends Error {
  constructor() {
    super('the budget for content filters is used up')
    this.name = 'OverBudget'
  }
}

/** A text that comes in pieces, looked through as they come. */
export interface TextScan {
  /**
   * Reads on, and answers what may go out now: in order, and together the whole text up to a place. Throws
   * `OverBudget`. After a piece that says `blocked` nothing more is answered.
   */
  push(text: string): readonly Piece[]
  /** The text ends here: answers the rest. */
  end(): readonly Piece[]
}

export interface Piece {
  /** What goes out. */
  readonly text: string
  /** How many UTF-16 units of the text it stands for. */
  readonly length: number
  /** `replaced`: it is a placeholder. `blocked`: nothing from here on may go out. */
  readonly kind: 'kept' | 'replaced' | 'blocked'
}

/** One filter as it is looked for in a text that comes in pieces. */
export interface Sought {
  readonly filter: ContentFilter
  /** Where it matches from a place on, ascending and apart. Throws `OverBudget`. */
  find(text: string, from: number, budget: ScanBudget): readonly Span[]
}

/** The part of a growing text that has not gone out yet. Places count from the beginning of the text. */
export interface Window {
  /** What stands before `held`, as far as a filter may look back. */
  readonly before: string
  readonly held: string
  /** The place of `held`. */
  readonly base: number
}

/** Automata of several filters that stand in a growing text. */
export interface Watch {
  /** The text goes on: `fresh` is the last of `held`. Throws `OverBudget`. */
  read(window: Window, fresh: string, budget: ScanBudget): void
  /** The text ends here. */
  end(window: Window, budget: ScanBudget): void
  /** No match that is under way, or is yet to come, begins before this place. */
  safeTo(length: number): number
  /** Where the last match of each filter ended, as far as is known; who has dealt with one deletes it. */
  readonly hits: Map<Sought, number>
}

/** The filters of one guardrail that hold on what is answered. */
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
  /** Some hold on what is asked. */
  readonly holdOnInput: boolean
  /** Absent: none holds on what is answered. */
  readonly output?: OutputFilters
  /** Filters on the request that match this text. Throws `OverBudget`. */
  scan(text: string, isUser: boolean, which: Purpose, budget: ScanBudget): Steps<FilterMatch[]>
}
