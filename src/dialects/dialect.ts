import type { Attempt } from '../core/attempt.ts'
import type { UpstreamError } from '../core/errors.ts'
import type { FrameBatch, InferenceFrame, InferenceFrames, JsonObject } from '../core/events.ts'
import type { UpstreamReply } from '../core/reply.ts'
import type { InferenceRequest } from '../core/request.ts'
import type { Closing, InferenceResult, PublicError, ReplyContext } from '../core/result.ts'

/** How callers speak to us in a dialect. */
export interface Ingress {
  /**
   * Reads a body whose JSON was parsed. Throws a `GatewayError` 400 that names the field's path. Fields that the
   * dialect does not know are kept: `request.body` is the body itself.
   */
  parse(body: JsonObject, headers: Headers): InferenceRequest
  writeReply(result: InferenceResult, reply: ReplyContext, closing: Closing): JsonObject
  writeStream(reply: ReplyContext): StreamWriter
  /** How a stream is sent; absent: as server-sent events, with comments for keep-alives. */
  readonly stream?: { readonly mediaType: string; readonly keepAlive: string }
  /** Converts a streamed reply into its unary form for `writeReply`; absent: both forms are the same. */
  gather?(frames: FrameBatch): FrameBatch
  /** The body of an error reply, where the dialect has a form of its own for it; absent: the gateway's envelope. */
  viewError?(error: PublicError, requestId: string): JsonObject
}

/**
 * Writes one SSE stream; each method answers the text to send, '' for nothing. The finish is held back until
 * `end`: a caller never sees an answer finished that is not on the ledger.
 */
export interface StreamWriter {
  /** Sent before anything else when the caller asked for `debug.echo_upstream_body`. */
  echo(upstreamBody: JsonObject): string
  write(frame: InferenceFrame): string
  /**
   * What shows the caller that the model has begun, before there is any content; `write` does not repeat it. Absent:
   * the dialect has no such event that a reply from another provider could follow.
   */
  begin?(): string
  /** Finish, usage, routing metadata and the dialect's terminal marker. */
  end(closing: Closing): string
  /** The dialect's mid-stream error, after which nothing follows. */
  fail(error: PublicError): string
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
  /** Sent in place of the body, as `multipart/form-data`; made anew for each attempt. */
  form?: FormData
  /** Parameters of the caller that this dialect or endpoint cannot carry: named in the routing metadata. */
  dropped: string[]
  /** Parts of the body that a provider may refuse and without which the call is made once more; absent: none. */
  lessers?: readonly Lesser[]
  /**
   * Set if the caller marked prefixes for caching (`cache_control`), and the provider creates a cache by a call
   * of its own: all places where the call can be cut up to the last mark, the shortest beginning first. Absent:
   * nothing was marked.
   */
  cuts?: () => readonly ContextCut[]
}

/** A part of a call that the gateway leaves out, and names, once a provider has refused it with a 400. */
export interface Lesser {
  readonly without: string
  isRefused(reason: string): boolean
  /** The body without the part. Never changes `body`. */
  bodyFrom(body: JsonObject): JsonObject
}

/** The beginning of a call, which the provider can keep, and what remains of the call then. */
export interface ContextCut {
  /** What the prefix holds beyond the breakpoint before it: equal parts up to a breakpoint mean equal prefixes. */
  readonly adds: string
  /** A rough count of all that it holds. */
  readonly tokens: number
  /** The share of the complete call, from 0 to 1, by the same count. */
  readonly share: number
  /** The caller marked this very place, or what comes right behind it. */
  readonly isMarked: boolean
  /** The call that makes the cache, which lives for so long. */
  make(ttlSeconds: number): DialectCall
  /** The body of the call with the cache of this name in place of the cached prefix. */
  bodyWith(name: string): JsonObject
}

/** A cache that was made. */
export interface MadeContext {
  readonly name: string
  /** What it holds, as the provider counts it; null: it did not tell. */
  readonly tokens: number | null
}

/** How we speak to providers in a dialect. */
export interface Egress {
  /**
   * True for an address that this dialect cannot carry: the gateway fetches it first, and `build` sees a data URL.
   * Absent: every address goes through.
   */
  needsContent?(part: 'image' | 'file' | 'video', url: string, attempt: Attempt): boolean
  build(request: InferenceRequest, attempt: Attempt): DialectCall
  /**
   * Reads a 2xx reply, streamed or not, as one stream of frames, in batches: one batch for what one read from the
   * network gave (several where that is long), as soon as it is there. Throws `UpstreamError`:
   * `malformed` (no answer in it), `truncated` (no proper end), or the error that an object in the stream reports; the
   * frames before it come first.
   */
  read(reply: UpstreamReply, streamed: boolean): InferenceFrames
  /** For dialects that count the tokens of a prompt. */
  countTokens?: {
    build(request: InferenceRequest, attempt: Attempt): DialectCall
    /** The count in a reply; null where it holds none. */
    read(body: unknown): number | null
  }
  /** For dialects whose `build` returns cache breakpoints. */
  contextCache?: {
    /** Reads the reply to `ContextCut.make`; null if it names no cache. */
    read(body: unknown): MadeContext | null
    /** True where a refusal is of this beginning alone, since it is too short to be kept. */
    isTooShort(error: UpstreamError): boolean
  }
  /** Reads an error reply (status ≥ 300) of any of the shapes that providers of this dialect send. */
  readError(status: number, headers: Headers, text: string): UpstreamError
}
