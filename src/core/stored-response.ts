import type { JsonObject } from './events.ts'
import type { ResponseStatus } from './response-status.ts'

/** What is known of a stored response without opening what was said. */
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
  /** Its events are kept, so that it can be streamed again. */
  readonly streamed: boolean
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly expiresAt: number
}

/** What was said: opened when it is asked for. */
export interface StoredReply {
  /** The Response object. */
  readonly reply: JsonObject
  /** The caller's items of this turn, those of earlier turns not included. */
  readonly input: readonly JsonObject[]
  /** Both as JSON text. */
  readonly clearBytes: number
}

/** A stretch of a stream: whole SSE events, the first one's and the last one's sequence number. */
interface StoredEvents {
  readonly first: number
  readonly last: number
  readonly text: string
}

/**
 * Where responses are kept, sealed. What has expired is as gone as what was deleted; what belongs to another
 * workspace is as unknown as what never was. A status changes only as core/response-status.ts allows.
 */
export interface ResponseStore {
  /** Keeps a new one; resolves once it can be read. `itemIds`: under what its items can be found. */
  keep(
    response: StoredResponse,
    said: { reply: JsonObject; input: readonly JsonObject[]; itemIds: readonly string[] },
  ): Promise<void>
  /** Answers false, and changes nothing, when the status may not follow the present one, or it is gone. */
  advance(
    id: string,
    change: { status: ResponseStatus; reply: JsonObject; itemIds?: readonly string[]; model?: string },
  ): Promise<boolean>
  find(id: string, workspaceId: string): Promise<StoredResponse | null>
  /** Throws when it was sealed with another key, or was changed. */
  open(response: StoredResponse): Promise<StoredReply>
  /** The responses that hold an item, the newest first. */
  withItem(itemId: string, workspaceId: string): Promise<StoredResponse[]>
  /** Keeps these at least until then: an answer rests on them. */
  keepUntil(ids: readonly string[], expiresAt: number): Promise<void>
  /** Answers false when there is none. What was said is overwritten, not only forgotten. */
  remove(id: string, workspaceId: string): Promise<boolean>
  addEvents(response: StoredResponse, events: StoredEvents): Promise<void>
  /** The stretch that holds the event with this number, or the next one after it; null at the end. */
  eventsFrom(response: StoredResponse, sequence: number): Promise<StoredEvents | null>
  /** Those whose status is not final, of any workspace. */
  unfinished(): Promise<StoredResponse[]>
}
