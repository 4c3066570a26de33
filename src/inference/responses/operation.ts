import { Type as t } from '@sinclair/typebox'
import { documentedBody } from '../../dialects/responses/schema.ts'
import { nullable } from '../../http/schemas.ts'
import { cachedInference, count, inference, ORIGIN_HEADERS, usd } from '../document-parts.ts'

const open = { additionalProperties: true }
const seconds = t.Integer({ description: 'Unix seconds.' })

const usage = t.Object(
  {
    input_tokens: t.Integer({ description: 'Cached and cache-writing tokens included.' }),
    input_tokens_details: t.Object({ cached_tokens: count, cache_write_tokens: count }, open),
    output_tokens: t.Integer({ description: 'Reasoning included.' }),
    output_tokens_details: t.Object({ reasoning_tokens: count }, open),
    total_tokens: count,
    cost: usd,
    is_byok: t.Boolean(),
    cost_details: t.Object({
      upstream_inference_cost: nullable(usd),
      upstream_inference_input_cost: usd,
      upstream_inference_output_cost: usd,
    }),
  },
  open,
)

const item = t.Object(
  {
    type: t.String({
      description: 'message, reasoning, function_call, custom_tool_call, image_generation_call …',
    }),
    id: t.String(),
    status: t.Optional(t.String({ description: 'in_progress, completed or incomplete' })),
  },
  { ...open, description: 'May be sent back as an item of `input`, unchanged' },
)

/** The response object, as the API document shows it. */
export const responseReply = t.Object(
  {
    id: t.String({ description: '`resp_…`; GET /generation takes it too.' }),
    object: t.Literal('response'),
    created_at: seconds,
    completed_at: nullable(seconds),
    status: t.Union(
      ['completed', 'incomplete', 'in_progress', 'failed', 'cancelled', 'queued'].map((status) =>
        t.Literal(status),
      ),
    ),
    model: t.String(),
    provider: t.String(),
    output: t.Array(item),
    output_text: t.String({ description: 'The text of all messages.' }),
    error: nullable(t.Object({ code: t.String(), message: t.String() }, open)),
    incomplete_details: nullable(
      t.Object({ reason: t.String({ description: 'max_output_tokens or content_filter' }) }, open),
    ),
    usage: nullable(usage),
    instructions: nullable(t.String()),
    metadata: nullable(t.Record(t.String(), t.String())),
    parallel_tool_calls: t.Boolean(),
    tool_choice: t.Unknown({ description: 'As requested; default auto.' }),
    tools: t.Array(t.Object({ type: t.String() }, open)),
    temperature: nullable(t.Number()),
    top_p: nullable(t.Number()),
    frequency_penalty: nullable(t.Number()),
    presence_penalty: nullable(t.Number()),
    service_tier: nullable(t.String()),
    store: t.Boolean(),
    background: t.Boolean(),
    previous_response_id: nullable(t.String()),
    max_output_tokens: nullable(t.Integer()),
    max_tool_calls: nullable(t.Integer()),
    prompt: nullable(t.Object({}, open)),
    prompt_cache_key: nullable(t.String()),
    reasoning: t.Object({ effort: nullable(t.String()), summary: nullable(t.String()) }, open),
    safety_identifier: nullable(t.String()),
    text: t.Object({}, open),
    top_logprobs: nullable(t.Integer()),
    truncation: nullable(t.String()),
    user: t.Optional(t.String({ description: 'As requested; absent if the request had none.' })),
    service_metadata: t.Optional(
      t.Object({}, { ...open, description: 'How it was routed, when asked for by header.' }),
    ),
  },
  open,
)

/** POST /responses in the API document. */
export const responsesOperation = cachedInference('createResponse', 'Create a response', {
  description:
    'Fields that are not listed are forwarded to a provider of the same API. With `stream: true` the reply is a ' +
    'stream of events, numbered by `sequence_number`, that ends with `response.completed`, `response.incomplete` or ' +
    '`response.failed`, and `[DONE]`. Reasoning of providers of other APIs is returned in `encrypted_content`.',
  body: documentedBody,
  reply: responseReply,
  streams: true,
  headers: ORIGIN_HEADERS,
})

/** POST /responses/compact in the API document. */
export const compactOperation = inference('compactResponse', 'Compact a conversation', {
  description:
    'Available at providers of the Responses API that support it, such as OpenAI. Takes the fields of `POST /responses`. ' +
    'Send the items of `output` instead of the conversation; only their provider can read the `compaction` among them.',
  body: documentedBody,
  reply: t.Object(
    {
      id: t.String(),
      object: t.Literal('response.compaction'),
      created_at: seconds,
      model: t.String(),
      provider: t.String(),
      output: t.Array(item),
      usage,
      service_metadata: t.Optional(
        t.Object({}, { ...open, description: 'How it was routed, when asked for by header.' }),
      ),
    },
    open,
  ),
})
