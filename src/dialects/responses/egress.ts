import type { InferenceFrames } from '../../core/events.ts'
import type { UpstreamReply } from '../../core/reply.ts'
import type { Egress } from '../dialect.ts'
import { readReply } from '../read-reply.ts'
import { buildResponses } from './build.ts'
import { createResponsesDecoder } from './decode.ts'
import { readResponsesError } from './read-error.ts'

/** Reads a 2xx reply; `fast: false` parses every event. */
export const readResponses = (
  reply: UpstreamReply,
  streamed: boolean,
  { fast = true }: { fast?: boolean } = {},
): InferenceFrames => readReply(reply, streamed, createResponsesDecoder({ status: reply.status, fast }))

/** Providers that speak OpenAI's Responses API. */
export const responsesEgress = {
  build: buildResponses,
  read: (reply, streamed) => readResponses(reply, streamed),
  readError: readResponsesError,
} satisfies Egress
