import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { asObject, asText, defined, isObject, restOf } from '../../core/json.ts'
import type { FunctionTool, Tool, ToolChoice } from '../../core/request.ts'
import { quoted } from '../mismatch.ts'
import type { ResponsesBody } from './schema.ts'
import { CUSTOM_ARGUMENT, flatName, type NamedTool, namedTools, toolsOf } from './tool-names.ts'

interface ReadTools {
  tools: Tool[]
  toolChoice?: ToolChoice
}

/**
 * Function tools in neutral form (custom tools and those of namespaces: see `tool-names.ts`), built-in and server
 * tools as they came. `allowed_tools` removes all other tools. Throws a `GatewayError` 400 for a choice of a tool that
 * is not there.
 */
export function readTools(body: JsonObject & ResponsesBody): ReadTools {
  const all = toolsOf(body)
  const tools = all.flatMap(readTool)
  const choice = body.tool_choice
  if (choice === null || choice === undefined) return { tools }
  if (choice === 'required' && tools.length === 0) {
    throw badRequest('is "required", and there are no tools', 'tool_choice')
  }
  if (typeof choice === 'string') return { tools, toolChoice: choice }
  if (choice.type === 'allowed_tools') return allowed(choice, tools)
  if (choice.type !== 'function' && choice.type !== 'custom') {
    return { tools, toolChoice: { type: 'other', data: { ...choice } } }
  }
  const { name } = choice
  if (name === undefined) {
    throw badRequest(`is required when tool_choice.type is "${choice.type}"`, 'tool_choice.name')
  }
  const chosen = namedTools(all).find((tool) => tool.name === name && tool.type === choice.type)
  if (!chosen) throw badRequest(`names ${quoted(name)}, which is not among tools`, 'tool_choice.name')
  return { tools, toolChoice: { type: 'function', name: flatName(chosen.name, chosen.namespace) } }
}

function readTool(data: unknown): Tool[] {
  if (!isObject(data)) return []
  const named = namedTools([data])
  return named.length > 0 || data.type === 'namespace' ? named.map(readNamed) : [{ type: 'other', data }]
}

const FUNCTION = new Set(['type', 'name', 'description', 'parameters', 'strict'])
const CUSTOM = new Set(['type', 'name', 'description', 'format'])

function readNamed({ type, name, namespace, data }: NamedTool): FunctionTool {
  const { description, parameters, strict, format } = data
  const common = {
    type: 'function' as const,
    name: flatName(name, namespace),
    description: asText(description),
  }
  if (type === 'function') {
    return defined({
      ...common,
      parameters: asObject(parameters),
      strict: typeof strict === 'boolean' ? strict : undefined,
      extra: restOf(data, FUNCTION),
    })
  }
  return defined({ ...common, parameters: customParameters(format), extra: restOf(data, CUSTOM) })
}

/** Other dialects cannot enforce a grammar: the tool's description contains it. */
function customParameters(format: unknown): JsonObject {
  const grammar = isObject(format) && format.type === 'grammar' ? format : undefined
  const description = grammar
    ? `Text that matches this ${String(grammar.syntax)} grammar:\n${String(grammar.definition)}`
    : 'The whole input of the tool, as free text'
  return {
    type: 'object',
    properties: { [CUSTOM_ARGUMENT]: { type: 'string', description } },
    required: [CUSTOM_ARGUMENT],
    additionalProperties: false,
  }
}

/** Only these may be called; a provider without such a choice does not receive any other tool. */
function allowed(
  { mode, tools: entries }: { mode?: 'auto' | 'required'; tools?: JsonObject[] },
  tools: Tool[],
): ReadTools {
  if (entries === undefined)
    throw badRequest('is required: the tools that may be called', 'tool_choice.tools')
  const isAllowed = (tool: Tool): boolean =>
    entries.some((entry) =>
      tool.type === 'function'
        ? tool.name === entry.name || tool.name.endsWith(`__${String(entry.name)}`)
        : entry.type === tool.data.type,
    )
  return { tools: tools.filter(isAllowed), toolChoice: mode ?? 'auto' }
}
