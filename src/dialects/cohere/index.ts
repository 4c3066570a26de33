import type { Egress } from '../dialect.ts'
import { readErrorReply } from '../read-error.ts'
import { readReply } from '../read-reply.ts'
import { buildCohere } from './build.ts'
import { createCohereDecoder } from './decode.ts'

/** Cohere's Chat API, version 2. */
export const cohereEgress = {
  build: buildCohere,
  read: (reply, streamed) => readReply(reply, streamed, createCohereDecoder(reply.status)),
  readError: readErrorReply,
  // Images may be addresses; text files become documents, whose content must be sent.
  needsContent: (type) => type === 'file',
} satisfies Egress
