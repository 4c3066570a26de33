import type { JsonObject } from './events.ts'
import type { ResponseStatus } from './response-status.ts'

/** A stored response without its contents, which are encrypted. */
export interface StoredResponse {
  /** `resp_…` with the digits of its generation. */
  readonly id: string
  readonly workspaceId: string
  /** The key that made it. */
  readonly keyHash: string
  readonly generationId: string
  readonly status: ResponseStatus
  readonly model: string
  /** The response that this one continues. */
  readonly previousResponseId: string | null
  /** It runs, or ran, without its caller's connection. */
  readonly background: boolean
  /** Its events are stored, so that it can be streamed again. */
  readonly streamed: boolean
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly expiresAt: number
}

/** The contents of a stored response, decrypted when they are read. */
export interface StoredReply {
  /** The Response object. */
  readonly reply: JsonObject
  /** The caller's items of this turn, those of earlier turns not included. */
  readonly input: readonly JsonObject[]
  /** Both as JSON text. */
  readonly clearBytes: number
}

/** A part of a stream: complete SSE events, with the sequence numbers of the first and the last. */
interface StoredEvents {
  readonly first: number
  readonly last: number
  readonly text: string
}

/**
 * Stores responses, encrypted. Expired responses are treated like deleted ones, and responses of another workspace like
 * unknown ones. A status changes only as core/response-status.ts allows.
 */
export interface ResponseStore {
  /** Stores a new response and resolves once it can be read. `itemIds` find its items. */
  keep(
    response: StoredResponse,
    parts: { reply: JsonObject; input: readonly JsonObject[]; itemIds: readonly string[] },
  ): Promise<void>
  /** Returns false and changes nothing if the status may not follow the present one, or the response is gone. */
  advance(
    id: string,
    change: { status: ResponseStatus; reply: JsonObject; itemIds?: readonly string[]; model?: string },
  ): Promise<boolean>
  find(id: string, workspaceId: string): Promise<StoredResponse | null>
  /** Throws when it was sealed with another key, or was changed. */
  open(response: StoredResponse): Promise<StoredReply>
  /** The responses that hold an item, the newest first. */
  withItem(itemId: string, workspaceId: string): Promise<StoredResponse[]>
  /** Extends the retention of these responses: a later one continues them. */
  keepUntil(ids: readonly string[], expiresAt: number): Promise<void>
  /** Returns false if it does not exist. The contents are overwritten, not only unlinked. */
  remove(id: string, workspaceId: string): Promise<boolean>
  addEvents(response: StoredResponse, events: StoredEvents): Promise<void>
  /** The part with this event, or with the next one after it; null at the end. */
  eventsFrom(response: StoredResponse, sequence: number): Promise<StoredEvents | null>
  /** Those whose status is not final, of any workspace. */
  unfinished(): Promise<StoredResponse[]>
}
