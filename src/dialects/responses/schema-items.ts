import { type Static, type TSchema, Type as t } from '@sinclair/typebox'
import { audioPart, cacheMark } from '../caller-schema.ts'
import { oneOf, openObject, optional } from '../fields.ts'

/** The items of `input`. Unknown fields are allowed in each; fields that are not read here are not described. */

const id = optional(t.String())
const name = t.String({ minLength: 1 })
const callId = t.String({ minLength: 1, description: 'The id that call and output share' })

const textPart = openObject({
  type: oneOf(['input_text', 'output_text', 'text']),
  text: t.String(),
  cache_control: cacheMark,
})
const refusalPart = openObject({ type: t.Literal('refusal'), refusal: t.String() })
const imagePart = openObject({
  type: t.Literal('input_image'),
  image_url: optional(t.String({ minLength: 1, description: 'An https URL or a data URL' })),
  file_id: optional(t.String({ minLength: 1 })),
  detail: optional(t.String({ description: 'auto, low, high or original' })),
  cache_control: cacheMark,
})
const filePart = openObject({
  type: t.Literal('input_file'),
  file_data: optional(t.String({ description: 'A data URL' })),
  file_url: optional(t.String({ description: 'An https URL' })),
  file_id: optional(t.String({ minLength: 1 })),
  filename: optional(t.String()),
  cache_control: cacheMark,
})
const videoPart = openObject({
  type: t.Literal('input_video'),
  video_url: t.String({ minLength: 1, description: 'An https URL' }),
})
const contentPart = t.Union([textPart, refusalPart, imagePart, filePart, audioPart, videoPart])
const content = t.Union([t.String(), t.Array(contentPart)])
export type Part = Static<typeof contentPart>
export type Content = Static<typeof content>

export const messageItem = openObject({
  type: t.Optional(t.Literal('message', { description: 'May be left out' })),
  role: oneOf(['user', 'system', 'developer', 'assistant']),
  content: optional(content),
  id,
  phase: optional(t.String({ description: 'commentary or final_answer' })),
})
export const functionCallItem = openObject({
  type: t.Literal('function_call'),
  call_id: callId,
  name,
  arguments: t.String({ description: 'JSON text, as the model wrote it' }),
  namespace: optional(t.String()),
  id,
})
export const customCallItem = openObject({
  type: t.Literal('custom_tool_call'),
  call_id: callId,
  name,
  input: t.String({ description: 'Free text' }),
  namespace: optional(t.String()),
  id,
})
const outputOf = <T extends string>(type: T) =>
  openObject({ type: t.Literal(type), call_id: callId, output: content, id })
export const functionOutputItem = outputOf('function_call_output')
export const customOutputItem = outputOf('custom_tool_call_output')

const thoughts = (description: string) =>
  optional(t.Array(t.Union([t.String(), openObject({ text: t.String() })]), { description }))
export const reasoningItem = openObject({
  type: t.Literal('reasoning'),
  id,
  summary: thoughts('Of a former reply, unchanged'),
  content: thoughts('Of a former reply, unchanged'),
  encrypted_content: optional(
    t.String({ description: 'From a former reply, unchanged: reasoning continues' }),
  ),
  signature: optional(t.String()),
  format: optional(t.String()),
})
export const referenceItem = openObject({
  type: t.Literal('item_reference'),
  id: t.String({ minLength: 1, description: 'The id of an item of a stored response' }),
})
export const toolsItem = openObject({
  type: t.Literal('additional_tools'),
  tools: t.Array(openObject({ type: t.String() })),
})
export const updateItem = openObject({
  type: t.Literal('configuration_update'),
  reasoning: optional(openObject({ effort: optional(t.String()) })),
})
export const agentItem = openObject({
  type: t.Literal('agent_message'),
  content: t.Union([t.String(), t.Array(openObject({ type: t.String() }))]),
  author: optional(t.String()),
  recipient: optional(t.String()),
})

/** Items of built-in tools and of OpenAI's own state: only this dialect can carry them. */
export const OWN_ITEMS = [
  'web_search_call',
  'file_search_call',
  'computer_call',
  'image_generation_call',
  'code_interpreter_call',
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
  'mcp_call',
  'local_shell_call',
  'shell_call',
  'apply_patch_call',
  'tool_search_call',
  'tool_search_output',
  'program',
  'program_output',
  'compaction',
  'compaction_trigger',
  'context_compaction',
] as const
export const ownItem = openObject({ type: oneOf(OWN_ITEMS), id })

/** Outputs of built-in tools, by the calls that they answer. */
export const OWN_OUTPUTS = [
  'computer_call_output',
  'shell_call_output',
  'apply_patch_call_output',
  'local_shell_call_output',
] as const
export const ownOutputItem = openObject({ type: oneOf(OWN_OUTPUTS), call_id: optional(t.String()), id })

/** What server tools of the gateway gave, in a former reply. */
export const SERVER_TOOL_ITEM = /^openrouter:[\w:.-]+$/
export const serverToolItem = openObject({ type: t.String({ pattern: SERVER_TOOL_ITEM.source }), id })

export const anyItem: TSchema = t.Union([
  messageItem,
  functionCallItem,
  functionOutputItem,
  customCallItem,
  customOutputItem,
  reasoningItem,
  referenceItem,
  toolsItem,
  updateItem,
  agentItem,
  ownItem,
  ownOutputItem,
  serverToolItem,
])
