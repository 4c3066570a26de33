import { Type as t } from '@sinclair/typebox'
import {
  cacheControl,
  cacheMark,
  callerFields,
  EFFORTS,
  metadata,
  model,
  serviceTier,
} from '../caller-schema.ts'
import { anyObject, bounded, oneOf, openObject, optional } from '../fields.ts'
import { message } from './schema-messages.ts'

/** The body of POST /chat/completions, every field with its limits. Unknown fields are forwarded at every level. */

const bound = (description: string) => optional(t.Integer({ minimum: 1, description }))
const fraction = optional(t.Number())

const tool = t.Union([
  openObject({
    type: t.Literal('function'),
    function: openObject({
      name: t.String({ minLength: 1 }),
      description: optional(t.String()),
      parameters: optional(anyObject('JSON Schema of the arguments')),
      strict: optional(t.Boolean()),
    }),
    cache_control: cacheMark,
  }),
  openObject({
    type: t.String({ pattern: '^(?!function$)', description: 'A built-in or server tool, as it came' }),
  }),
])

const toolChoice = t.Union([
  oneOf(['auto', 'none', 'required']),
  openObject({
    type: t.String({ description: 'function with function.name, or the type of a built-in tool' }),
    function: optional(openObject({ name: t.String({ minLength: 1 }) })),
  }),
])

const responseFormat = openObject({
  type: oneOf(['text', 'json_object', 'json_schema', 'grammar', 'python']),
  json_schema: optional(
    openObject({
      name: optional(t.String({ maxLength: 64 })),
      description: optional(t.String()),
      schema: optional(anyObject('JSON Schema')),
      strict: optional(t.Boolean()),
    }),
  ),
  grammar: optional(t.String()),
})

const reasoning = openObject({
  effort: optional(oneOf(EFFORTS)),
  max_tokens: bound('The maximum number of reasoning tokens'),
  enabled: optional(t.Boolean()),
  exclude: optional(t.Boolean({ description: 'Reason, but do not show it' })),
  summary: optional(t.String({ description: 'auto, concise, detailed' })),
})

const prediction = openObject({
  type: t.String({ description: 'content' }),
  content: optional(t.Union([t.String(), t.Array(openObject({}))])),
})

const contentFields = {
  messages: t.Array(message, { minItems: 1 }),
  model,
  tools: optional(t.Array(tool)),
  tool_choice: optional(toolChoice),
  parallel_tool_calls: optional(t.Boolean()),
  response_format: optional(responseFormat),
  modalities: optional(t.Array(oneOf(['text', 'image', 'audio']))),
  prediction: optional(prediction),
}

const samplingFields = {
  stream: optional(t.Boolean({ default: false })),
  stream_options: optional(
    openObject({
      include_usage: optional(t.Boolean({ deprecated: true, description: 'Usage is always sent' })),
    }),
  ),
  max_tokens: optional(t.Integer({ minimum: 1, deprecated: true, description: 'Use max_completion_tokens' })),
  max_completion_tokens: bound('The maximum number of output tokens, reasoning included'),
  n: optional(t.Integer({ minimum: 1, maximum: 128, description: 'How many answers' })),
  temperature: optional(t.Number({ minimum: 0, maximum: 2 })),
  top_p: optional(t.Number({ minimum: 0, maximum: 1 })),
  top_k: optional(t.Integer()),
  top_a: fraction,
  min_p: fraction,
  frequency_penalty: optional(t.Number({ minimum: -2, maximum: 2 })),
  presence_penalty: optional(t.Number({ minimum: -2, maximum: 2 })),
  repetition_penalty: optional(t.Number({ description: '1.0 means no penalty' })),
  seed: optional(t.Integer()),
  stop: optional(
    t.Union([t.String(), t.Array(t.String(), { maxItems: 4 })], { description: 'At most 4 sequences' }),
  ),
  logit_bias: optional(t.Record(t.String(), t.Number(), { description: 'Token id to bias' })),
  logprobs: optional(t.Boolean()),
  top_logprobs: optional(t.Integer({ minimum: 0, maximum: 20 })),
  reasoning: optional(reasoning),
  reasoning_effort: optional(oneOf(EFFORTS)),
  include_reasoning: optional(t.Boolean({ deprecated: true, description: 'Use reasoning.exclude' })),
  verbosity: optional(t.String({ description: 'low, medium, high …' })),
  service_tier: serviceTier,
}

const gatewayFields = {
  ...callerFields,
  preset: optional(t.String()),
  transforms: optional(t.Array(t.String())),
  metadata,
  cache_control: cacheControl,
  prompt_cache_key: optional(t.String()),
  prompt_cache_options: optional(anyObject('How the provider caches the prompt')),
  web_search_options: optional(anyObject('Search settings of models that search by themselves')),
  usage: optional(
    openObject({ include: optional(t.Boolean({ deprecated: true, description: 'Usage is always sent' })) }),
  ),
}

export const chatBody = bounded(openObject({ ...contentFields, ...samplingFields, ...gatewayFields }))
export type ChatBody = typeof chatBody.static
