import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import type { Tool, ToolChoice } from '../../core/request.ts'
import { defined, restOf } from '../values.ts'
import type { ChatBody } from './schema.ts'

const TOOL = new Set(['type', 'function'])

/** Function tools in neutral form; built-in and server tools as they came. */
export const readTools = (tools: ChatBody['tools']): Tool[] =>
  (tools ?? []).map((tool) => {
    if (tool.type !== 'function' || !('function' in tool)) return { type: 'other', data: { ...tool } }
    const { name, description, parameters, strict } = tool.function
    return defined({
      type: 'function',
      name,
      description: description ?? undefined,
      parameters: parameters ?? undefined,
      strict: strict ?? undefined,
      extra: restOf(tool, TOOL),
    })
  })

export function readToolChoice(choice: ChatBody['tool_choice']): ToolChoice | undefined {
  if (choice === null || choice === undefined) return undefined
  if (typeof choice === 'string') return choice
  if (choice.type !== 'function') return { type: 'other', data: { ...choice } }
  if (!choice.function) {
    throw badRequest('is required when tool_choice.type is "function": name the tool', 'tool_choice.function')
  }
  return { type: 'function', name: choice.function.name }
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
