import type { JsonObject } from './events.ts'

/** What was asked and answered in one generation, as GET /generation/content tells it (api-surface §14). */
export interface GenerationContent {
  readonly input: { readonly prompt: string } | { readonly messages: readonly unknown[] }
  readonly output: { readonly completion: string | null; readonly reasoning: string | null }
  /** Null: it ended whole. */
  readonly error: GenerationFailure | null
}

/** What a caller was told of a failure: nothing here is private to the operator. */
export interface GenerationFailure extends JsonObject {
  readonly message: string
  /** The attempts that failed before the one whose failure was told, in their order. */
  readonly previous_errors: readonly FailedAttempt[]
  readonly provider_name: string | null
  /** A provider's text may hold anything: what of it may be told is in the message. */
  readonly raw: null
  /** Null: nobody was there to be told. */
  readonly status: number | null
}

export interface FailedAttempt {
  readonly code: number
  readonly message: string
  readonly provider_name: string
  readonly raw: null
}

/** The content of a generation that has ended, on its way to be kept. */
export interface EndedContent {
  readonly generationId: string
  readonly workspaceId: string
  /** What it holds in memory, in bytes, about. */
  readonly weight: number
  /** Puts it together: asked for when it is written or read, never while an answer waits. */
  content(): Promise<GenerationContent>
}

/** Keeps contents, sealed, behind the answers. */
export interface ContentLog {
  /** Takes it and comes back at once. What cannot be kept is lost with a warning; never throws. */
  add(content: EndedContent): void
  /**
   * Null: there is none of this workspace, or it has expired. Finds what waits to be written too. Throws when it was
   * sealed with another key, or was changed.
   */
  find(generationId: string, workspaceId: string): Promise<GenerationContent | null>
  /** Resolves once all that was added is written, or lost. */
  close(): Promise<void>
}

/** What a workspace logs of its generations. */
export interface ContentLogging {
  /** The share of generations that are logged: more than 0, at most 1. */
  readonly samplingRate: number
  /** The integer ids of the keys whose generations are logged; null: every key's. */
  readonly keyIds: ReadonlySet<number> | null
}

/** Of a UUIDv7 these are random whatever the clock says. */
const RANDOM_DIGITS = 13
const RANGE = 16 ** RANDOM_DIGITS

/**
 * Whether a generation is among those that are logged at this rate: its id alone says, so that it can be told again at
 * any time. The last 13 hex digits of the id, as a fraction of 16^13, are below the rate.
 */
export const isSampled = (generationId: string, rate: number): boolean =>
  Number.parseInt(generationId.slice(-RANDOM_DIGITS), 16) < rate * RANGE
