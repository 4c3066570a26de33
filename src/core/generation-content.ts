import type { JsonObject } from './events.ts'

/** Request and reply of one generation, as GET /generation/content returns them (api-surface §14). */
export interface GenerationContent {
  readonly input: { readonly prompt: string } | { readonly messages: readonly unknown[] }
  readonly output: { readonly completion: string | null; readonly reasoning: string | null }
  /** Null: the reply was complete. */
  readonly error: GenerationFailure | null
}

/** The failure as the caller saw it: nothing in it is private to the operator. */
export interface GenerationFailure extends JsonObject {
  readonly message: string
  /** Earlier failed attempts, in order. */
  readonly previous_errors: readonly FailedAttempt[]
  readonly provider_name: string | null
  /** Always null: a provider's text may hold secrets. The message has the part that may be shown. */
  readonly raw: null
  /** Null: the client had disconnected. */
  readonly status: number | null
}

export interface FailedAttempt {
  readonly code: number
  readonly message: string
  readonly provider_name: string
  readonly raw: null
}

/** The content of a completed generation that waits to be stored. */
export interface EndedContent<Content = GenerationContent> {
  readonly generationId: string
  readonly workspaceId: string
  /** Approximate memory in bytes. */
  readonly weight: number
  /** Builds the content. Called when it is written or read, never while a reply waits. */
  content(): Promise<Content>
}

/** The content of a generation for destinations of observability. Images, sounds and files are named by type and size. */
export interface ExportedContent extends Pick<GenerationContent, 'input' | 'output'> {
  /** Declarations of tools, in the caller's dialect; null: none. */
  readonly tools: readonly unknown[] | null
  /** The sentence of the error that the caller got; null: the reply was complete. */
  readonly error: string | null
}

/** Stores contents for destinations, encrypted, after the reply was sent, until every destination has them. */
export interface ExportContents {
  /**
   * Queues it and returns at once; never throws. Content without room is not stored, and its place says so for as long as
   * destinations wait for it.
   */
  add(content: EndedContent<ExportedContent>): void
  /** Deletes the contents of generations that every destination has passed. Never rejects. */
  forget(generationIds: readonly string[]): Promise<void>
  /** Resolves once every queued content is written. */
  close(): Promise<void>
}

/** Stores contents, encrypted, after the reply was sent. */
export interface ContentLog {
  /** Queues it and returns at once; never throws. Content that cannot be stored is dropped with a warning. */
  add(content: EndedContent): void
  /**
   * Null: this workspace has no such content, or it has expired. Also finds content that waits to be written. Throws if
   * it was encrypted with another key or changed.
   */
  find(generationId: string, workspaceId: string): Promise<GenerationContent | null>
  /** Resolves once every queued content is written or dropped. */
  close(): Promise<void>
}

/** Which contents of its generations a workspace logs. */
export interface ContentLogging {
  /** The share of generations that are logged: more than 0, at most 1. */
  readonly samplingRate: number
  /** The integer ids of the keys whose generations are logged; null: every key's. */
  readonly keyIds: ReadonlySet<number> | null
}

/** These digits of a UUIDv7 are random; the others depend on the clock. */
const RANDOM_DIGITS = 13
const RANGE = 16 ** RANDOM_DIGITS

/**
 * Whether a generation is logged at this sampling rate. Only its id decides, so the answer never changes: the last 13 hex
 * digits of the id, as a fraction of 16^13, are below the rate.
 */
export const isSampled = (generationId: string, rate: number): boolean =>
  Number.parseInt(generationId.slice(-RANDOM_DIGITS), 16) < rate * RANGE
