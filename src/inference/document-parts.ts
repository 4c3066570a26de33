/** Parts of the API document that several inference operations share. */
import { Type as t } from '@sinclair/typebox'
import {
  CACHE_HEADERS,
  CACHE_REPLY_HEADERS,
  GENERATION_REPLY_HEADERS,
  type HeaderParameter,
  type Operation,
  operationsOf,
  SERVICE_METADATA_HEADER,
} from '../http/operation.ts'
import { nullable } from '../http/schemas.ts'

type Details = Omit<Operation, 'id' | 'summary' | 'tag'>

export const documented = operationsOf('Inference')

/** An operation that calls providers. `headers`: those that it takes beside the ones that all of these take. */
export const inference = (id: string, summary: string, { headers = [], ...details }: Details) =>
  documented(id, summary, {
    asksProvider: true,
    headers: [SERVICE_METADATA_HEADER, ...headers],
    replyHeaders: GENERATION_REPLY_HEADERS,
    ...details,
  })

/** The same with the response cache. */
export const cachedInference = (id: string, summary: string, { headers = [], ...details }: Details) =>
  inference(id, summary, {
    headers: [...CACHE_HEADERS, ...headers],
    replyHeaders: CACHE_REPLY_HEADERS,
    ...details,
  })

export const count = t.Integer({ minimum: 0 })
export const usd = t.Number({ description: 'USD, at most 9 decimals.' })

/** The cost fields of a `usage` object. */
export const costs = {
  cost: usd,
  is_byok: t.Boolean(),
  cost_details: t.Object({
    upstream_inference_cost: nullable(usd),
    upstream_inference_prompt_cost: usd,
    upstream_inference_completions_cost: usd,
  }),
}

export const generationId = t.String({ description: 'The generation id.' })
export const serviceMetadata = t.Optional(
  t.Object({}, { description: 'How it was routed, when asked for by header.' }),
)

/** The fields of a completion beside its choices, in both of OpenAI's completion APIs. */
export const completionFields = {
  created: t.Integer({ description: 'Unix seconds.' }),
  model: t.String(),
  provider: t.String(),
  system_fingerprint: nullable(t.String()),
  service_tier: nullable(t.String()),
  usage: t.Object({
    prompt_tokens: t.Integer({ description: 'Cached and cache-writing tokens included.' }),
    completion_tokens: t.Integer({ description: 'Reasoning included.' }),
    total_tokens: count,
    prompt_tokens_details: t.Object({
      cached_tokens: count,
      cache_write_tokens: count,
      audio_tokens: count,
    }),
    completion_tokens_details: t.Object({ reasoning_tokens: count, audio_tokens: count }),
    ...costs,
  }),
  service_metadata: serviceMetadata,
}

/** The fields of a choice beside its content, in both of OpenAI's completion APIs. */
export const choiceFields = {
  index: count,
  finish_reason: t.Union(
    ['stop', 'length', 'tool_calls', 'content_filter', 'error'].map((reason) => t.Literal(reason)),
  ),
  native_finish_reason: nullable(t.String({ description: "The provider's finish reason." })),
  logprobs: nullable(t.Object({})),
}

/** The headers that identify a session and the calling application. */
export const ORIGIN_HEADERS: readonly HeaderParameter[] = [
  {
    name: 'x-session-id',
    description: 'Requests of one session prefer one endpoint; `session_id` in the body wins.',
    schema: { type: 'string', maxLength: 256 },
  },
  {
    name: 'HTTP-Referer',
    description: 'The calling application, for the record.',
    schema: { type: 'string' },
  },
  {
    name: 'X-Title',
    description: "The calling application's name, for the record.",
    schema: { type: 'string' },
  },
]
