import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { restOf } from '../../core/json.ts'
import type { Tool, ToolChoice } from '../../core/request.ts'
import { quoted } from '../values.ts'
import type { ChatBody } from './schema.ts'

const TOOL = new Set(['type', 'function'])

/** Function tools in neutral form; built-in and server tools as they came. */
export const readTools = (tools: ChatBody['tools']): Tool[] => (tools ? tools.map(readTool) : [])

function readTool(tool: NonNullable<ChatBody['tools']>[number]): Tool {
  if (tool.type !== 'function' || !('function' in tool)) return { type: 'other', data: { ...tool } }
  const { name, description, parameters, strict } = tool.function
  return {
    type: 'function',
    name,
    description: description ?? undefined,
    parameters: parameters ?? undefined,
    strict: strict ?? undefined,
    extra: restOf(tool, TOOL),
  }
}

/** Throws a `GatewayError` 400 for a choice that the tools cannot fulfil. */
export function readToolChoice(
  choice: ChatBody['tool_choice'],
  tools: readonly Tool[],
): ToolChoice | undefined {
  if (choice === null || choice === undefined) return undefined
  if (choice === 'required' && tools.length === 0) {
    throw badRequest('is "required", and there are no tools', 'tool_choice')
  }
  if (typeof choice === 'string') return choice
  if (choice.type !== 'function') return { type: 'other', data: { ...choice } }
  if (!choice.function) {
    throw badRequest('is required when tool_choice.type is "function": name the tool', 'tool_choice.function')
  }
  const { name } = choice.function
  if (tools.some((tool) => tool.type === 'function' && tool.name === name)) return { type: 'function', name }
  throw badRequest(`names ${quoted(name)}, which is not among tools`, 'tool_choice.function.name')
}

export function readResponseFormat(format: ChatBody['response_format']): JsonObject | undefined {
  if (!format) return undefined
  if (format.type === 'json_schema' && !format.json_schema) {
    throw badRequest('is required when response_format.type is "json_schema"', 'response_format.json_schema')
  }
  if (format.type === 'grammar' && format.grammar === undefined) {
    throw badRequest('is required when response_format.type is "grammar"', 'response_format.grammar')
  }
  return format
}
