import type { Ingress } from '../dialect.ts'
import { parseChat } from './parse.ts'
import { writeChatReply } from './write-reply.ts'
import { writeChatStream } from './write-stream.ts'

/** POST /chat/completions, toward callers. */
export const chatIngress = {
  parse: parseChat,
  writeReply: writeChatReply,
  writeStream: writeChatStream,
} satisfies Ingress
