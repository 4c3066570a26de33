/** The contract of a kind of observability destination. One file of `kinds/` for each, listed in `kinds/index.ts`. */
import type { ConfigField, DestinationConfig, DestinationType } from './destination-types.ts'
import type { ExportRecord } from './record.ts'

export interface DestinationKind {
  readonly type: DestinationType
  readonly fields: readonly ConfigField[]
  readonly limits: BatchLimits
  /**
   * The calls that bring these records, at least one, to the destination. Pure: the same records and context give the
   * same calls, so that a repetition can be recognized. Headers of the operator are in the calls already.
   */
  batchOf(
    records: readonly ExportRecord[],
    context: BatchContext,
  ): readonly DestinationCall[] | Promise<readonly DestinationCall[]>
  /** What a reply to one of the calls means. Absent: `meaningOfStatus`. */
  meaningOf?(reply: DeliveryReply, context: BatchContext): Meaning
}

export interface BatchLimits {
  /** The most records in a batch. */
  readonly records: number
  /** The most bytes of a call's body before compression. A larger batch is split. */
  readonly bytes: number
  /** How long the first record waits for others, in milliseconds. */
  readonly waitMs: number
  /** The most bytes of one record; absent: `bytes`. A larger one is sent without its content. */
  readonly recordBytes?: number
  /** A record that ended longer ago is refused by the vendor, in milliseconds; absent: no such limit. */
  readonly oldestMs?: number
}

export interface BatchContext {
  readonly destinationId: string
  readonly config: DestinationConfig
  /** The first and last positions of the batch in the order of delivery: stable names for repeated batches. */
  readonly first: number
  readonly last: number
  /** The time of this delivery, in milliseconds since 1970. */
  readonly now: number
  /** Resource attributes: version and instance of this gateway. */
  readonly service: { readonly version: string; readonly instanceId: string }
  /** These records may have been sent before: a retry, or the first batch after a start. */
  readonly isRepeat: boolean
  /** True for the event of POST …/test. */
  readonly isTest: boolean
  /** Records as OTLP's spans, without additions of a kind: destinations that get the same record share them. */
  readonly encodings?: WeakMap<ExportRecord, Uint8Array>
}

export interface DestinationCall {
  readonly url: string
  readonly method: 'POST' | 'PUT' | 'GET'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array<ArrayBuffer>
  /** The destination accepts `content-encoding: gzip`; the delivery compresses then. */
  readonly gzip?: boolean
}

export interface DeliveryReply {
  readonly status: number
  readonly headers: Headers
  /** At most 64 KiB of it. Never shown or logged: its text is not trusted. */
  readonly body: Uint8Array
}

/** Sentences are ours; none quotes the destination's server. */
export type Meaning =
  /** Accepted. `rejectedSpans`: how many spans were refused, without saying which. */
  | { readonly outcome: 'accepted'; readonly rejectedSpans?: number; readonly sentence?: string }
  /** Try again later: 408, 429, 5xx. `afterMs`: what the destination asked for. */
  | { readonly outcome: 'retry'; readonly sentence: string; readonly afterMs?: number }
  /** Something in the batch is wrong: it is split until the record is alone, which is set aside. */
  | { readonly outcome: 'refused'; readonly sentence: string }
  /** The batch is too large: it is split, a single record is sent without its content. */
  | { readonly outcome: 'too-large'; readonly sentence: string }
  /** The credential or the address is wrong: the destination pauses until it is changed. */
  | { readonly outcome: 'unauthorized'; readonly sentence: string }
  /** Accepted, and not done: the next call asks for the outcome. */
  | { readonly outcome: 'pending'; readonly next: DestinationCall; readonly afterMs: number }
