import type { Attempt } from '../../core/attempt.ts'
import { asObject } from '../../core/json.ts'
import type { InferenceRequest } from '../../core/request.ts'
import { words } from '../../core/words.ts'
import type { DialectCall, Egress, Ingress } from '../dialect.ts'
import { readReply } from '../read-reply.ts'
import { buildMessages } from './build.ts'
import { createMessagesDecoder } from './decode.ts'
import { readMessagesError, viewError } from './errors.ts'
import { parseMessages } from './parse.ts'
import { gatherMessage } from './write-native.ts'
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

/** Providers that speak Anthropic's Messages API. */
export const messagesEgress = {
  build: buildMessages,
  read: (reply, streamed) =>
    readReply(reply, streamed, createMessagesDecoder({ status: reply.status, fast: true })),
  countTokens: { build: buildCount, read: readCount },
  readError: readMessagesError,
} satisfies Egress

/** Parameters of the answer: the API rejects them in a count of tokens. */
const ANSWER_FIELDS = new Set(
  words('max_tokens stream stop_sequences temperature top_p top_k metadata service_tier container'),
)

/** The call that counts the tokens of a prompt. */
function buildCount(request: InferenceRequest, attempt: Attempt): DialectCall {
  const { headers, body, dropped } = buildMessages({ ...request, stream: false }, attempt)
  const prompt = Object.fromEntries(Object.entries(body).filter(([name]) => !ANSWER_FIELDS.has(name)))
  return { path: '/messages/count_tokens', headers, body: prompt, dropped }
}

function readCount(body: unknown): number | null {
  const count = asObject(body)?.input_tokens
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 ? count : null
}
