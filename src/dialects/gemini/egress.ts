import type { Egress } from '../dialect.ts'
import { readErrorReply } from '../read-error.ts'
import { readReply } from '../read-reply.ts'
import { buildGemini } from './build.ts'
import { createGeminiDecoder } from './decode.ts'

/** Google's generateContent, as AI Studio and Vertex speak it. */
export const geminiEgress = {
  build: buildGemini,
  read: (reply, streamed) => readReply(reply, streamed, createGeminiDecoder(reply.status)),
  readError: readErrorReply,
} satisfies Egress
