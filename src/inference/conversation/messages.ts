import { Type as t } from '@sinclair/typebox'
import { messagesBody } from '../../dialects/messages/schema.ts'
import { nullable } from '../../http/schemas.ts'
import { cachedInference, costs, count, documented, serviceMetadata } from '../document-parts.ts'

const block = t.Object(
  {
    type: t.String({
      description:
        'text, thinking, redacted_thinking, tool_use, or a type of the provider (server_tool_use …).',
    }),
  },
  { additionalProperties: true },
)

const usage = t.Object({
  input_tokens: t.Integer({ description: 'Without cache reads and cache writes.' }),
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  cache_creation: nullable(t.Object({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count })),
  output_tokens: t.Integer({ description: 'Thinking included.' }),
  output_tokens_details: t.Object({ thinking_tokens: count }),
  server_tool_use: nullable(t.Object({ web_search_requests: count, web_fetch_requests: count })),
  inference_geo: nullable(t.String()),
  service_tier: nullable(t.String()),
  ...costs,
})

const message = t.Object({
  id: t.String({ description: 'The generation id under the prefix `msg_`; GET /generation takes it too.' }),
  type: t.Literal('message'),
  role: t.Literal('assistant'),
  model: t.String(),
  provider: t.String(),
  content: t.Array(block),
  stop_reason: nullable(
    t.Union(
      [
        'end_turn',
        'max_tokens',
        'stop_sequence',
        'tool_use',
        'pause_turn',
        'refusal',
        'compaction',
        'model_context_window_exceeded',
      ].map((reason) => t.Literal(reason)),
    ),
  ),
  stop_sequence: nullable(t.String()),
  stop_details: nullable(t.Object({}, { description: 'The reason for a refusal.' })),
  container: nullable(t.Object({})),
  usage,
  service_metadata: serviceMetadata,
})

const error = t.Object({
  type: t.Literal('error'),
  error: t.Object({
    type: t.String({ description: 'invalid_request_error, authentication_error, rate_limit_error …' }),
    message: t.String({ description: 'What was wrong, where, and what is allowed.' }),
    error_type: t.Optional(t.String({ description: "The gateway's error type." })),
    metadata: t.Optional(t.Object({})),
  }),
  request_id: nullable(t.String()),
})

const KEY = {
  name: 'x-api-key',
  description: 'The key, if no Authorization header is sent.',
  schema: { type: 'string' as const },
}
const BETA = {
  name: 'anthropic-beta',
  description: 'Beta features; forwarded to providers of this API.',
  schema: { type: 'string' as const },
}

/** POST /messages in the API document. */
export const messagesOperation = cachedInference(
  'createMessage',
  "Create a message (Anthropic's Messages API)",
  {
    description:
      "For Anthropic's clients and for coding agents that require this API; every model is available. Fields that " +
      'are not listed are forwarded to providers of this API. With `stream: true` the reply is a stream of ' +
      "Anthropic's events that ends with `message_stop`; a truncated stream ends with an `error` event instead. Errors " +
      'are `{type: "error", error: {type, message}, request_id}`.',
    body: messagesBody,
    reply: message,
    streams: true,
    headers: [KEY, BETA],
    error,
  },
)

/** POST /messages/count_tokens in the API document. */
export const countTokensOperation = documented('countMessageTokens', 'Count the tokens of a message', {
  description:
    "Takes the body of POST /messages. The provider counts if it has Anthropic's route for it; otherwise the gateway " +
    'returns an estimate, which is rather too high. Costs nothing. Rate limits count it as a request without tokens.',
  body: messagesBody,
  reply: t.Object({ input_tokens: count }),
  headers: [KEY, BETA],
  error,
})
