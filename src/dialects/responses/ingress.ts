import type { Ingress } from '../dialect.ts'
import { parseResponses } from './parse.ts'
import { writeResponsesReply } from './write-reply.ts'
import { writeResponsesStream } from './write-stream.ts'

/** Callers of POST /responses. */
export const responsesIngress = {
  parse: parseResponses,
  writeReply: writeResponsesReply,
  writeStream: writeResponsesStream,
} satisfies Ingress
