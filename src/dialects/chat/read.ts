import type { InferenceFrames } from '../../core/events.ts'
import type { UpstreamReply } from '../../core/reply.ts'
import { type ReadOptions as ReplyOptions, readReply } from '../read-reply.ts'
import { createChatDecoder } from './decode.ts'

export interface ReadOptions extends ReplyOptions {
  /** False: every chunk is parsed. The same events come, without `plainText`. */
  fast?: boolean
}

/** Reads a 2xx reply of an OpenAI-shaped provider; see `readReply`. */
export const readChat = (
  reply: UpstreamReply,
  streamed: boolean,
  options: ReadOptions = {},
): InferenceFrames =>
  readReply(
    reply,
    streamed,
    createChatDecoder({ status: reply.status, fast: streamed && options.fast !== false }),
    options,
  )
