import type { Egress, Ingress } from '../dialect.ts'
import { readErrorReply } from '../read-error.ts'
import { buildChat } from './build.ts'
import { readChat } from './decode.ts'
import { parseChat } from './parse.ts'
import { writeChatReply } from './write-reply.ts'
import { writeChatStream } from './write-stream.ts'

/** POST /chat/completions, toward callers. */
export const chatIngress = {
  parse: parseChat,
  writeReply: writeChatReply,
  writeStream: writeChatStream,
} satisfies Ingress

/** Providers that speak OpenAI's chat completions. */
export const chatEgress = {
  // `file_data` is base64 in OpenAI's own API; only images are read from addresses.
  needsContent: (part) => part === 'file',
  build: buildChat,
  read: readChat,
  readError: readErrorReply,
} satisfies Egress
