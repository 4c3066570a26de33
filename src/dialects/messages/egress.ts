import type { Egress } from '../dialect.ts'
import { readReply } from '../read-reply.ts'
import { buildMessages } from './build.ts'
import { buildCount, readCount } from './count.ts'
import { createMessagesDecoder } from './decode.ts'
import { readMessagesError } from './read-error.ts'

/** Providers that speak Anthropic's Messages API. */
export const messagesEgress = {
  build: buildMessages,
  read: (reply, streamed) =>
    readReply(reply, streamed, createMessagesDecoder({ status: reply.status, fast: true })),
  countTokens: { build: buildCount, read: readCount },
  readError: readMessagesError,
} satisfies Egress
