import type { InferenceFrames, JsonObject } from '../../core/events.ts'
import { replyIdOf } from '../../core/ids.ts'
import { asText, isObject, restOf } from '../../core/json.ts'
import type { UpstreamReply } from '../../core/reply.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { Egress, Ingress } from '../dialect.ts'
import type { Operation, OperationIngress } from '../operation.ts'
import { malformed, readJsonObject } from '../operations/reply.ts'
import { readReply } from '../read-reply.ts'
import { viewMetadata } from '../usage.ts'
import { buildResponses } from './build.ts'
import { createResponsesDecoder } from './decode.ts'
import { readResponsesError } from './errors.ts'
import { parseResponses } from './parse.ts'
import { readUsage } from './usage.ts'
import { writeResponsesReply } from './write-reply.ts'
import { viewUsage } from './write-response.ts'
import { writeResponsesStream } from './write-stream.ts'

/** Callers of POST /responses. */
export const responsesIngress = {
  parse: parseResponses,
  writeReply: writeResponsesReply,
  writeStream: writeResponsesStream,
} satisfies Ingress

/** Reads a 2xx reply; `fast: false` parses every event. */
export const readResponses = (
  reply: UpstreamReply,
  streamed: boolean,
  { fast = true }: { fast?: boolean } = {},
): InferenceFrames => readReply(reply, streamed, createResponsesDecoder({ status: reply.status, fast }))

/** Providers that speak OpenAI's Responses API. */
export const responsesEgress = {
  build: buildResponses,
  read: (reply, streamed) => readResponses(reply, streamed),
  readError: readResponsesError,
} satisfies Egress

/** A conversation in a form that only its provider can read, to be sent instead of it. */
export interface Compaction {
  /** The user's messages and a `compaction` item, the provider's own: they go back unchanged. */
  readonly output: readonly JsonObject[]
}

/** POST /responses/compact: the fields of POST /responses, and one answer without a stream. */
export const compactIngress: OperationIngress<InferenceRequest, Compaction> = {
  parse: parseResponses,
  writeReply: ({ output }, reply, closing) => ({
    ...reply.native,
    id: replyIdOf(reply.generationId, 'resp_'),
    object: 'response.compaction',
    created_at: reply.created,
    model: reply.model,
    provider: reply.providerName,
    output,
    usage: viewUsage(closing),
    ...viewMetadata(closing.serviceMetadata),
  }),
}

/** Fields of POST /responses that this route does not have. */
const NOT_SENT = ['stream', 'store', 'include', 'max_output_tokens']
const OWN = new Set(['id', 'object', 'created_at', 'model', 'output', 'usage', 'error'])

/** OpenAI's `/responses/compact` (API reference of 2026; Codex compacts with it). */
export const responsesCompact: Operation<InferenceRequest, Compaction> = {
  build(request, attempt) {
    const { headers, body, dropped } = buildResponses(request, attempt)
    const sent = Object.fromEntries(Object.entries(body).filter(([name]) => !NOT_SENT.includes(name)))
    const lost = request.unreadable ?? []
    return { path: '/responses/compact', headers, body: sent, dropped: [...new Set([...dropped, ...lost])] }
  },
  async read(reply) {
    const body = await readJsonObject(reply)
    const { id, output } = body
    if (!Array.isArray(output) || !output.every(isObject)) throw malformed('the reply has no output')
    return {
      result: { output },
      upstreamId: asText(id) ?? null,
      usage: readUsage(body, 0) ?? null,
      native: restOf(body, OWN) ?? {},
    }
  },
}

/** For providers of other dialects: the reason why there is no call. */
export const noCompact: Operation<InferenceRequest, Compaction> = {
  cannot: () => 'does not compact conversations: only providers of the Responses API do',
  build() {
    throw new Error('planned in a dialect that does not compact')
  },
  async read() {
    throw new Error('planned in a dialect that does not compact')
  },
}
