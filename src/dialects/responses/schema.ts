import { type TSchema, Type as t } from '@sinclair/typebox'
import { cacheControl, callerFields, EFFORTS, metadata, model, serviceTier } from '../caller-schema.ts'
import { anyObject, bounded, oneOf, openObject, optional } from '../fields.ts'
import { xSearch } from '../plugin-schema.ts'
import { anyItem } from './schema-items.ts'

/** The body of POST /responses, every field with its limits. Unknown fields are forwarded at every level. */

const tool = t.Union([
  openObject({
    type: t.Literal('function'),
    name: t.String({ minLength: 1 }),
    description: optional(t.String()),
    parameters: optional(anyObject('JSON Schema of the arguments')),
    strict: optional(t.Boolean()),
  }),
  openObject({
    type: t.Literal('custom'),
    name: t.String({ minLength: 1 }),
    description: optional(t.String()),
    format: optional(
      openObject({
        type: oneOf(['text', 'grammar']),
        syntax: optional(t.String({ description: 'lark or regex' })),
        definition: optional(t.String()),
      }),
    ),
  }),
  openObject({
    type: t.Literal('namespace'),
    name: t.String({ minLength: 1 }),
    description: optional(t.String()),
    tools: t.Array(openObject({ type: t.String() })),
  }),
  openObject({
    type: t.String({
      pattern: '^(?!(function|custom|namespace)$)',
      description: 'A built-in or server tool, as it came',
    }),
  }),
])

const toolChoice = t.Union([
  oneOf(['auto', 'none', 'required']),
  openObject({
    type: t.String({
      description: 'function or custom with name, allowed_tools with tools, or a built-in tool',
    }),
    name: t.Optional(t.String({ minLength: 1 })),
    mode: t.Optional(oneOf(['auto', 'required'])),
    tools: t.Optional(t.Array(openObject({}))),
  }),
])

const reasoning = openObject({
  effort: optional(oneOf(EFFORTS)),
  summary: optional(t.String({ description: 'auto, concise, detailed' })),
  enabled: optional(t.Boolean()),
  max_tokens: optional(t.Integer({ minimum: 1, description: 'The maximum number of reasoning tokens' })),
  exclude: optional(t.Boolean({ description: 'Reason, but do not show it' })),
})

const format = t.Union([
  openObject({ type: t.Literal('text') }),
  openObject({ type: t.Literal('json_object') }),
  openObject({
    type: t.Literal('json_schema'),
    name: t.String({ minLength: 1, maxLength: 64 }),
    description: optional(t.String()),
    schema: anyObject('JSON Schema'),
    strict: optional(t.Boolean()),
  }),
])

/** The spec's five, and those that OpenAI added. */
const INCLUDABLE = [
  'file_search_call.results',
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'reasoning.encrypted_content',
  'code_interpreter_call.outputs',
  'web_search_call.results',
  'web_search_call.action.sources',
  'message.output_text.logprobs',
] as const

const count = (description: string) => optional(t.Integer({ minimum: 0, description }))

const fields = {
  model,
  instructions: optional(t.String({ description: 'System instructions, before all of the input' })),
  previous_response_id: optional(t.String({ description: 'A stored response to continue' })),
  prompt: optional(
    openObject(
      { id: t.String({ minLength: 1 }), variables: optional(anyObject('Values by name')) },
      { description: "A prompt template stored at the provider, not at this gateway's" },
    ),
  ),
  prompt_cache_key: optional(t.String()),
  prompt_cache_options: optional(anyObject('How the provider caches the prompt')),
  background: optional(t.Boolean({ description: 'Return at once and continue in the background' })),
  stream: optional(t.Boolean({ default: false })),
  store: optional(
    t.Boolean({ default: false, description: 'Store the response, to be retrieved by its id' }),
  ),
  max_output_tokens: optional(
    t.Integer({ minimum: 1, description: 'The maximum number of output tokens, reasoning included' }),
  ),
  max_tool_calls: count('The most calls of built-in tools'),
  top_logprobs: optional(t.Integer({ minimum: 0, maximum: 20 })),
  top_k: optional(t.Integer()),
  temperature: optional(t.Number({ minimum: 0, maximum: 2 })),
  top_p: optional(t.Number({ minimum: 0, maximum: 1 })),
  frequency_penalty: optional(t.Number({ minimum: -2, maximum: 2 })),
  presence_penalty: optional(t.Number({ minimum: -2, maximum: 2 })),
  parallel_tool_calls: optional(t.Boolean()),
  tools: optional(t.Array(tool)),
  tool_choice: optional(toolChoice),
  include: optional(t.Array(oneOf(INCLUDABLE))),
  modalities: optional(t.Array(oneOf(['text', 'image']))),
  reasoning: optional(reasoning),
  text: optional(
    openObject({
      format: optional(format),
      verbosity: optional(t.String({ description: 'low, medium, high …' })),
    }),
  ),
  service_tier: serviceTier,
  truncation: optional(oneOf(['auto', 'disabled'])),
  metadata,
  safety_identifier: optional(t.String()),
  cache_control: cacheControl,
  x_search_filter: optional(xSearch),
  ...callerFields,
}

const withInput = <T extends TSchema>(item: T) => ({
  input: optional(t.Union([t.String(), t.Array(item)], { description: 'A text, or items' })),
  ...fields,
})

/** Everything except the items, which are checked one by one, each against the schema of its type. */
export const responsesBody = bounded(openObject(withInput(openObject({}))))
export type ResponsesBody = typeof responsesBody.static

/** The same with every form of an item: for the API document. */
export const documentedBody = bounded(openObject(withInput(anyItem)))
