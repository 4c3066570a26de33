import { Type as t } from '@sinclair/typebox'
import { chatBody } from '../../dialects/chat/schema.ts'
import {
  CACHE_HEADERS,
  CACHE_REPLY_HEADERS,
  operation,
  SERVICE_METADATA_HEADER,
} from '../../http/operation.ts'
import { nullable } from '../../http/schemas.ts'

const count = t.Integer({ minimum: 0 })
const usd = t.Number({ description: 'USD, at most 9 decimals.' })

const toolCall = t.Object({
  id: t.String(),
  type: t.String(),
  function: t.Optional(t.Object({ name: t.String(), arguments: t.String({ description: 'JSON text.' }) })),
})

const message = t.Object({
  role: t.Literal('assistant'),
  content: nullable(t.String()),
  refusal: nullable(t.String()),
  reasoning: t.Optional(t.String()),
  reasoning_details: t.Optional(t.Array(t.Object({ type: t.String() }))),
  tool_calls: t.Optional(t.Array(toolCall)),
  annotations: t.Optional(t.Array(t.Object({ type: t.String() }))),
  images: t.Optional(t.Array(t.Object({ type: t.String(), image_url: t.Object({ url: t.String() }) }))),
  audio: t.Optional(t.Object({})),
})

const choice = t.Object({
  index: count,
  message,
  finish_reason: t.Union(
    ['stop', 'length', 'tool_calls', 'content_filter', 'error'].map((reason) => t.Literal(reason)),
  ),
  native_finish_reason: nullable(t.String({ description: "The provider's own word." })),
  logprobs: nullable(t.Object({})),
})

export const chatUsage = t.Object({
  prompt_tokens: t.Integer({ description: 'Cached and cache-writing tokens included.' }),
  completion_tokens: t.Integer({ description: 'Reasoning included.' }),
  total_tokens: count,
  prompt_tokens_details: t.Object({ cached_tokens: count, cache_write_tokens: count, audio_tokens: count }),
  completion_tokens_details: t.Object({ reasoning_tokens: count, audio_tokens: count }),
  cost: usd,
  is_byok: t.Boolean(),
  cost_details: t.Object({
    upstream_inference_cost: nullable(usd),
    upstream_inference_prompt_cost: usd,
    upstream_inference_completions_cost: usd,
  }),
})

const chatReply = t.Object({
  id: t.String({ description: 'The generation id.' }),
  object: t.Literal('chat.completion'),
  created: t.Integer({ description: 'Unix seconds.' }),
  model: t.String(),
  provider: t.String(),
  system_fingerprint: nullable(t.String()),
  service_tier: nullable(t.String()),
  choices: t.Array(choice),
  usage: chatUsage,
  service_metadata: t.Optional(t.Object({}, { description: 'How it was routed, when asked for by header.' })),
})

/** POST /chat/completions, as the API document shows it. */
export const chatOperation = operation({
  id: 'createChatCompletion',
  tag: 'Inference',
  summary: 'Create a chat completion',
  description:
    'Fields that are not listed are forwarded to the provider. With `stream: true` the reply is a stream of chunks ' +
    'that ends in a usage chunk and `[DONE]`; one that breaks off ends in an error chunk instead.',
  asksProvider: true,
  body: chatBody,
  reply: chatReply,
  streams: true,
  replyHeaders: CACHE_REPLY_HEADERS,
  headers: [
    SERVICE_METADATA_HEADER,
    ...CACHE_HEADERS,
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
  ],
})
