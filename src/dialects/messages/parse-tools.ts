import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { defined, restOf } from '../../core/json.ts'
import type { Tool, ToolChoice } from '../../core/request.ts'
import { quoted } from '../mismatch.ts'
import { formatOf, isStrict } from '../strict-schema.ts'
import { shortName } from '../tool-names.ts'
import type { Keep } from './fields.ts'
import type { MessagesBody } from './schema.ts'

const TOOL = new Set(['type', 'name', 'description', 'input_schema', 'strict'])

/** Custom tools in neutral form; the provider's own as they came. */
export function readTools({ tools }: MessagesBody, keep: Keep): Tool[] {
  const names = new Set<string>()
  return (tools ?? []).map((tool, i) => {
    const { type, name, description, input_schema, strict } = tool
    const at = `tools[${i}]`
    if (name) {
      if (names.has(name)) throw badRequest(`must be unique; ${quoted(name)} is named twice`, `${at}.name`)
      names.add(name)
    }
    if (type && type !== 'custom') return { type: 'other', data: { ...tool } }
    if (!name) throw badRequest('is required on a custom tool', `${at}.name`)
    if (!input_schema) throw badRequest('is required on a custom tool: a JSON Schema', `${at}.input_schema`)
    const holds = strict === true && isStrict(input_schema)
    if (strict === true && !holds) keep('tools.strict')
    return defined({
      type: 'function',
      name: shortName(name),
      description: description ?? undefined,
      parameters: input_schema,
      strict: holds || undefined,
      extra: keep.rest(restOf(tool, TOOL), 'tools'),
    })
  })
}

const CHOICE = new Set(['type', 'name', 'disable_parallel_tool_use'])

/** `any` is OpenAI's `required`. Throws a `GatewayError` 400 for a choice of a tool that is not there. */
export function readToolChoice(body: MessagesBody, keep: Keep): ToolChoice | undefined {
  const { tool_choice, tools, mcp_servers } = body
  if (!tool_choice) return undefined
  keep.rest(restOf(tool_choice, CHOICE), 'tool_choice')
  const hasTools = (tools ?? []).length > 0 || (mcp_servers ?? []).length > 0
  if (!hasTools && tool_choice.type !== 'none') {
    throw badRequest('may only be set together with tools', 'tool_choice')
  }
  switch (tool_choice.type) {
    case 'auto':
    case 'none':
      return tool_choice.type
    case 'any':
      return 'required'
    case 'tool': {
      const { name } = tool_choice
      const chosen = tools?.find((tool) => tool.name === name)
      if (!chosen && !mcp_servers?.length) {
        throw badRequest(`must be the name of one of the tools, not ${quoted(name)}`, 'tool_choice.name')
      }
      const isOwn = chosen !== undefined && (!chosen.type || chosen.type === 'custom')
      return isOwn ? { type: 'function', name: shortName(name) } : { type: 'other', data: { ...tool_choice } }
    }
  }
}

export const readParallel = ({ tool_choice }: MessagesBody): boolean | undefined =>
  tool_choice && 'disable_parallel_tool_use' in tool_choice && tool_choice.disable_parallel_tool_use === true
    ? false
    : undefined

/** `output_format` is the older name of `output_config.format`. */
export function readFormat({ output_config, output_format }: MessagesBody): JsonObject | undefined {
  const format = output_config?.format ?? output_format
  if (!format) return undefined
  if (output_config?.format && output_format) {
    throw badRequest('is the older name of output_config.format: send one of them', 'output_format')
  }
  return formatOf(format.schema)
}
