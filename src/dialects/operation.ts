import type { Attempt } from '../core/attempt.ts'
import type { InferenceFrames, JsonObject } from '../core/events.ts'
import type { ImagesRequest, SpeechRequest, SpokenAudio } from '../core/operation.ts'
import type { UpstreamReply } from '../core/reply.ts'
import type { RoutedRequest } from '../core/request.ts'
import type { Closing, RoutingMetadata } from '../core/result.ts'
import type { EndpointRecord, ProviderRecord } from '../core/snapshot.ts'
import type { Usage } from '../core/usage.ts'
import type { DialectCall } from './dialect.ts'

/** Inference other than conversations, with one request and one result: embeddings, ranking, images, speech. */

/** The caller's side of an operation. */
export interface OperationIngress<Request extends RoutedRequest, Result> {
  /** Throws a `GatewayError` 400 that names the field's path. Unknown fields stay in `body`. */
  parse(body: JsonObject, headers: Headers): Request
  writeReply(result: Result, reply: OperationContext<Request>, closing: Closing): JsonObject
}

/** What a writer needs in addition to the result. */
export interface OperationContext<Request> {
  generationId: string
  /** Unix seconds. */
  created: number
  /** The public id of the model that answers. */
  model: string
  /** Display name of the provider that answers. */
  providerName: string
  request: Request
  /** Unknown fields of the provider's reply, if it speaks the caller's dialect. */
  native: JsonObject
  routing?(): RoutingMetadata | null
}

/** The provider's side of an operation, in one wire format. */
export interface Operation<Request extends RoutedRequest, Result> {
  /** Why this format or model cannot carry the request, to complete "<provider> …"; null: it can, or it is not known. */
  cannot?(request: Request, endpoint: EndpointRecord, provider: ProviderRecord): string | null
  build(request: Request, attempt: Attempt): DialectCall
  /**
   * Reads a 2xx reply. Throws `UpstreamError`: `malformed` for an incomplete answer, or what an error object in
   * the reply reports; and any error that the body throws.
   */
  read(reply: UpstreamReply, request: Request, attempt: Attempt): Promise<OperationReply<Result>>
}

export interface OperationReply<Result> {
  result: Result
  /** The provider's own id of its reply; null if it has none. */
  upstreamId: string | null
  /** What the provider counted; null if it reported nothing. */
  usage: Usage | null
  native?: JsonObject
}

/** Requests images from a provider. */
export interface ImageEgress {
  /** Why it cannot make them as asked, to complete "<provider> …"; null: it can. */
  cannot?(request: ImagesRequest, endpoint: EndpointRecord): string | null
  /** One call returns one image, whatever `count` is: several images take several calls and cannot be streamed. */
  readonly isSingle?: boolean
  build(request: ImagesRequest, attempt: Attempt): DialectCall
  /**
   * Reads a 2xx reply, streamed or not, as events: `image` for a finished one (a data URL or an address), `native`
   * with a draft or accompanying fields, text and reasoning of a model that also writes text. At least one image comes before
   * `response-end`; a reply without any throws.
   */
  read(reply: UpstreamReply, request: ImagesRequest, attempt: Attempt): InferenceFrames
}

/** What `native` events of images hold. */
export type ImageNative =
  /** A draft. */
  | { type: 'partial'; base64: string; index: number }
  /** Fields of the last image. */
  | { type: 'image'; fields: Record<string, unknown> }
  /** Fields of the complete reply. */
  | { type: 'reply'; fields: Record<string, unknown> }

/** Requests speech from a provider. */
export interface SpeechEgress {
  /** Why it cannot make the speech as requested, to complete "<provider> …"; null: it can. */
  cannot?(request: SpeechRequest): string | null
  build(request: SpeechRequest, attempt: Attempt): DialectCall
  /** Reads a 2xx reply up to its first sound. Throws `malformed` for anything else. */
  read(reply: UpstreamReply, request: SpeechRequest): Promise<{ audio: SpokenAudio; usage: Usage | null }>
}
