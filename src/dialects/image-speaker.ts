import type { Attempt } from '../core/attempt.ts'
import type { InferenceFrames } from '../core/events.ts'
import type { ImagesRequest } from '../core/operation.ts'
import type { UpstreamReply } from '../core/reply.ts'
import type { DialectCall } from './dialect.ts'

/** How images are asked for at a provider. */
export interface ImageSpeaker {
  /** Why it cannot make them as asked, to complete "<provider> …"; null: it can. */
  cannot?(request: ImagesRequest): string | null
  /** One call gives one image, whatever `count` says: several take several calls, and cannot be streamed. */
  readonly isSingle?: boolean
  build(request: ImagesRequest, attempt: Attempt): DialectCall
  /**
   * Reads a 2xx reply, streamed or not, as events: `image` for a finished one (a data URL or an address), `native`
   * with a draft or what was said beside, text and reasoning of a model that speaks. At least one image comes before
   * `response-end`; a reply without any throws.
   */
  read(reply: UpstreamReply, request: ImagesRequest, attempt: Attempt): InferenceFrames
}

/** What `native` events of images hold. */
export type ImageNative =
  /** A draft. */
  | { type: 'partial'; base64: string; index: number }
  /** Of the image that came last. */
  | { type: 'image'; fields: Record<string, unknown> }
  /** Of the whole reply. */
  | { type: 'reply'; fields: Record<string, unknown> }
