import { Type as t } from '@sinclair/typebox'
import { cacheControl, conversationFields, model, stopServerToolsWhen } from '../caller-schema.ts'
import { anyObject, bounded, modelName, oneOf, openObject, optional } from '../fields.ts'
import { message, textBlock } from './schema-messages.ts'

/** The body of POST /messages, every field with its limits. Unknown fields are forwarded at every level. */

const tool = openObject({
  type: optional(t.String({ description: 'custom (the default), or a tool of the provider with its date' })),
  name: optional(t.String({ minLength: 1, maxLength: 128 })),
  description: optional(t.String()),
  input_schema: optional(anyObject('JSON Schema of the input; required on custom tools')),
  strict: optional(t.Boolean()),
  cache_control: cacheControl,
})

const isSerial = optional(t.Boolean({ description: 'At most one call in an answer' }))
const toolChoice = t.Union([
  openObject({ type: t.Literal('auto'), disable_parallel_tool_use: isSerial }),
  openObject({ type: t.Literal('any'), disable_parallel_tool_use: isSerial }),
  openObject({
    type: t.Literal('tool'),
    name: t.String({ minLength: 1 }),
    disable_parallel_tool_use: isSerial,
  }),
  openObject({ type: t.Literal('none') }),
])

/** Open: Claude Code 2.1.330 sends `updates`, which its beta `thinking-display-updates` permits. */
const display = optional(t.String({ description: 'summarized, omitted, updates …' }))
const LEAST_BUDGET = 1_024
const thinking = t.Union([
  openObject({
    type: t.Literal('enabled'),
    budget_tokens: t.Integer({ minimum: LEAST_BUDGET, description: 'Less than max_tokens' }),
    display,
  }),
  openObject({ type: t.Literal('disabled') }),
  openObject({ type: t.Literal('adaptive'), display }),
  openObject({ type: t.Literal('between_tools') }),
])

const outputFormat = openObject({
  type: t.Literal('json_schema'),
  schema: anyObject('JSON Schema of the answer'),
})

const contentFields = {
  model,
  messages: t.Array(message, { minItems: 1 }),
  system: optional(t.Union([t.String(), t.Array(textBlock)])),
  tools: optional(t.Array(tool)),
  tool_choice: optional(toolChoice),
  thinking: optional(thinking),
  output_config: optional(
    openObject({
      effort: optional(oneOf(['low', 'medium', 'high', 'xhigh', 'max'])),
      format: optional(outputFormat),
      task_budget: optional(anyObject('How many tokens the whole task may take')),
    }),
  ),
  output_format: optional(outputFormat),
  context_management: optional(anyObject('How the provider shortens a long context (`edits`)')),
  container: optional(t.Union([t.String(), openObject({})])),
  mcp_servers: optional(
    t.Array(
      openObject({
        type: t.Literal('url'),
        name: optional(t.String({ minLength: 1, maxLength: 128 })),
        url: optional(t.String({ description: "May be left out for a server of the gateway's operator" })),
        authorization_token: optional(t.String({ description: 'Only for servers that the provider calls' })),
        tool_configuration: optional(
          openObject({ enabled: optional(t.Boolean()), allowed_tools: optional(t.Array(t.String())) }),
        ),
      }),
      { maxItems: 32, description: 'MCP servers of the operator, or of others that the provider calls' },
    ),
  ),
}

const samplingFields = {
  max_tokens: optional(
    t.Integer({
      minimum: 0,
      description: "The most tokens to answer with, thinking included; absent: the model's maximum",
    }),
  ),
  stop_sequences: optional(t.Array(t.String({ minLength: 1 }))),
  stream: optional(t.Boolean({ default: false })),
  temperature: optional(t.Number({ minimum: 0, maximum: 1 })),
  top_p: optional(t.Number({ minimum: 0, maximum: 1 })),
  top_k: optional(t.Integer({ minimum: 0 })),
  metadata: optional(openObject({ user_id: optional(t.String({ maxLength: 256 })) })),
  service_tier: optional(oneOf(['auto', 'standard_only', 'default', 'flex', 'priority', 'scale', 'fast'])),
  speed: optional(oneOf(['standard', 'fast'])),
  cache_control: cacheControl,
}

const gatewayFields = {
  ...conversationFields,
  fallbacks: optional(
    t.Union(
      [
        t.Array(openObject({ model: modelName() })),
        t.String({ description: "`default`: the provider's own choice" }),
      ],
      { description: 'Models that are tried when the first one cannot answer' },
    ),
  ),
  stop_server_tools_when: stopServerToolsWhen,
}

export const messagesBody = bounded(openObject({ ...contentFields, ...samplingFields, ...gatewayFields }))
export type MessagesBody = typeof messagesBody.static
