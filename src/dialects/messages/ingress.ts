import type { Ingress } from '../dialect.ts'
import { viewError } from './error-view.ts'
import { gatherMessage } from './gather.ts'
import { parseMessages } from './parse.ts'
import { writeMessagesReply } from './write-reply.ts'
import { writeMessagesStream } from './write-stream.ts'

/** POST /messages, toward callers: Anthropic's Messages API. */
export const messagesIngress = {
  parse: parseMessages,
  writeReply: writeMessagesReply,
  writeStream: writeMessagesStream,
  gather: gatherMessage,
  viewError,
} satisfies Ingress
