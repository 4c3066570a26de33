import type { Attempt } from '../core/attempt.ts'
import type { UpstreamError } from '../core/errors.ts'
import type { FrameBatch, InferenceFrame, InferenceFrames, JsonObject } from '../core/events.ts'
import type { UpstreamReply } from '../core/reply.ts'
import type { InferenceRequest } from '../core/request.ts'
import type { Closing, InferenceResult, PublicError, ReplyContext } from '../core/result.ts'

/** The caller's side of a dialect: parses requests and writes replies. */
export interface Ingress {
  /**
   * Reads a parsed body. Throws a `GatewayError` 400 that names the field's path. Fields that the
   * dialect does not know are kept: `request.body` is the body itself.
   */
  parse(body: JsonObject, headers: Headers): InferenceRequest
  writeReply(result: InferenceResult, reply: ReplyContext, closing: Closing): JsonObject
  writeStream(reply: ReplyContext): StreamWriter
  /** How a stream is sent; absent: as server-sent events, with comments for keep-alives. */
  readonly stream?: { readonly mediaType: string; readonly keepAlive: string }
  /** Converts a streamed reply into its unary form for `writeReply`; absent: both forms are the same. */
  gather?(frames: FrameBatch): FrameBatch
  /** The body of an error reply in the dialect's own form; absent: the gateway's envelope. */
  viewError?(error: PublicError, requestId: string): JsonObject
}

/**
 * Writes one SSE stream; each method returns the text to send, '' for nothing. The finish is held back until
 * `end`: an answer is on the ledger before a caller sees it finished.
 */
export interface StreamWriter {
  /** Sent first if the caller asked for `debug.echo_upstream_body`. */
  echo(upstreamBody: JsonObject): string
  write(frame: InferenceFrame): string
  /**
   * Shows the caller that the model has started, before any content; `write` does not repeat it. Absent:
   * the dialect has no event for it that a reply of another provider could follow.
   */
  begin?(): string
  /** Finish, usage, routing metadata and the dialect's terminal marker. */
  end(closing: Closing): string
  /** The dialect's mid-stream error, after which nothing follows. */
  fail(error: PublicError): string
  /**
   * From now on long texts are passed to `take` in place of being returned. They follow the text that the same call
   * returns. Absent: the dialect repeats no text at its end, and returns everything.
   */
  holdLong?(take: (text: string) => void): void
  /**
   * The complete reply as `writeReply` would return it (a failed one with its error), once `end` or `fail` was
   * called; null before. For dialects whose replies can be stored and asked for again.
   */
  reply?(): JsonObject | null
}

/** A request in a provider's dialect, before the provider adds its address and credential. */
export interface DialectCall {
  /** Appended to the provider's `baseUrl`. */
  path: string
  headers: Record<string, string>
  body: JsonObject
  /** Sent instead of the body, as `multipart/form-data`; built again for each attempt. */
  form?: FormData
  /** Parameters of the caller that this dialect or endpoint cannot carry: named in the routing metadata. */
  dropped: string[]
  /** Parts of the body that a provider may reject with a 400: the call is then repeated without them. */
  optionalParts?: readonly OptionalPart[]
  /**
   * Set if the caller marked prefixes for caching (`cache_control`), and the provider creates a cache by a call
   * of its own: all breakpoints of the call up to the last marker, the shortest prefix first. Absent:
   * no markers.
   */
  breakpoints?: () => readonly CacheBreakpoint[]
}

/** Dropped, and named in the routing metadata, after a provider has rejected it. */
export interface OptionalPart {
  readonly without: string
  isRefused(reason: string): boolean
  /** The body without the part. Never changes `body`. */
  bodyFrom(body: JsonObject): JsonObject
}

/** The prefix of a call that the provider can cache, and the rest of the call. */
export interface CacheBreakpoint {
  /** What the prefix holds beyond the breakpoint before it: equal parts up to a breakpoint mean equal prefixes. */
  readonly adds: string
  /** A rough token count of the prefix. */
  readonly tokens: number
  /** The share of the complete call, from 0 to 1, by the same count. */
  readonly share: number
  /** The caller marked this place, or the part right behind it. */
  readonly isMarked: boolean
  /** The call that creates the cache with this lifetime. */
  make(ttlSeconds: number): DialectCall
  /** The body of the call with the cache of this name instead of the cached prefix. */
  bodyWith(name: string): JsonObject
}

/** A cache at the provider. */
export interface MadeContext {
  readonly name: string
  /** Its tokens as the provider counts them; null: not reported. */
  readonly tokens: number | null
}

/** The provider's side of a dialect: builds calls and reads replies. */
export interface Egress {
  /**
   * True for an address that this dialect cannot carry: the gateway fetches it first, and `build` sees a data URL.
   * Absent: the dialect carries every address.
   */
  needsContent?(part: 'image' | 'file' | 'video', url: string, attempt: Attempt): boolean
  build(request: InferenceRequest, attempt: Attempt): DialectCall
  /**
   * Reads a 2xx reply, streamed or not, as one stream of frames, in batches: one batch for each read from the
   * network (several for a long one), without delay. Throws `UpstreamError`:
   * `malformed` (no answer in it), `truncated` (no proper end), or the error that an object in the stream reports; the
   * frames before it come first.
   */
  read(reply: UpstreamReply, streamed: boolean): InferenceFrames
  /** For dialects that count the tokens of a prompt. */
  countTokens?: {
    build(request: InferenceRequest, attempt: Attempt): DialectCall
    /** The count in a reply; null if it has none. */
    read(body: unknown): number | null
  }
  /** For dialects whose `build` returns cache breakpoints. */
  contextCache?: {
    /** Reads the reply to `make`; null if it names no cache. */
    read(body: unknown): MadeContext | null
    /** True if the provider rejects only this prefix because it is too short to cache. */
    isTooShort(error: UpstreamError): boolean
  }
  /** Reads an error reply (status ≥ 300) of any of the shapes that providers of this dialect send. */
  readError(status: number, headers: Headers, text: string): UpstreamError
}
