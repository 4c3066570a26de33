import type { Egress } from '../dialect.ts'
import { readReply } from '../read-reply.ts'
import { buildConverse } from './build.ts'
import { createConverseDecoder } from './decode.ts'
import { readConverseError } from './errors.ts'
import { createEventStreamParser } from './event-stream.ts'

/** Amazon Bedrock's Converse and ConverseStream. */
export const converseEgress: Egress = {
  // Converse accepts bytes, and addresses of S3 alone.
  needsContent: (_, url) => /^https?:/i.test(url),
  build: buildConverse,
  // As a stream in both cases: an unrequested event stream is binary.
  read: (reply) =>
    readReply(reply, true, createConverseDecoder(reply.status), { createParser: createEventStreamParser }),
  readError: readConverseError,
}
