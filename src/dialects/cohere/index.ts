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
  // Pictures may be addresses; files of text are documents, which must be there.
  needsContent: (type) => type === 'file',
} satisfies Egress
