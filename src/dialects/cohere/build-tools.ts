import type { JsonObject } from '../../core/events.ts'
import { defined } from '../../core/json.ts'
import type { FunctionTool, InferenceRequest } from '../../core/request.ts'
import type { LeaveOut } from './names.ts'

/**
 * | tools, tool_choice | Cohere's |
 * |---|---|
 * | function | `tools` |
 * | auto / none / required | nothing / `NONE` / `REQUIRED` |
 * | one function | `REQUIRED`, and that function alone in `tools` |
 * | `strict` on every function, each with a required parameter | `strict_tools` |
 *
 * Left out and named: built-in tools of others, `strict` on some, other choices, `parallel_tool_calls: false`.
 */
export function writeTools(request: InferenceRequest, leaveOut: LeaveOut): JsonObject {
  const functions: FunctionTool[] = []
  for (const tool of request.tools) {
    if (tool.type === 'function') functions.push(tool)
    else leaveOut(`tools.${String(tool.data.type)}`)
  }
  if (functions.length === 0) return {}
  if (request.parallelToolCalls === false) leaveOut('parallel_tool_calls')
  const { names, choice } = writeChoice(request, leaveOut)
  const offered = names ? functions.filter(({ name }) => names.includes(name)) : functions
  return defined({
    tools: offered.map((tool) => writeFunction(tool, leaveOut)),
    tool_choice: choice,
    strict_tools: isStrict(offered, leaveOut) ? true : undefined,
  })
}

/** `names`: the only functions that may be called; undefined: all. */
function writeChoice(
  { toolChoice, tools }: InferenceRequest,
  leaveOut: LeaveOut,
): { names?: string[]; choice?: string } {
  if (toolChoice === undefined || toolChoice === 'auto') return {}
  if (toolChoice === 'none') return { choice: 'NONE' }
  if (toolChoice === 'required') return { choice: 'REQUIRED' }
  const isKnown =
    toolChoice.type === 'function' &&
    tools.some((tool) => tool.type === 'function' && tool.name === toolChoice.name)
  if (toolChoice.type === 'function' && isKnown) return { names: [toolChoice.name], choice: 'REQUIRED' }
  leaveOut('tool_choice')
  return {}
}

function writeFunction(
  { name, description, parameters, extra }: FunctionTool,
  leaveOut: LeaveOut,
): JsonObject {
  for (const key of Object.keys(extra ?? {})) leaveOut(key === 'cache_control' ? key : `tools.${key}`)
  return {
    type: 'function',
    function: defined({ name, description, parameters: parameters ?? { type: 'object', properties: {} } }),
  }
}

/** The switch is one for all tools, and each must then have a required parameter. */
function isStrict(functions: readonly FunctionTool[], leaveOut: LeaveOut): boolean {
  if (!functions.some(({ strict }) => strict === true)) return false
  const may = functions.every(({ strict, parameters }) => strict === true && hasRequired(parameters))
  if (!may) leaveOut('tools.strict')
  return may
}

const hasRequired = (parameters: JsonObject | undefined): boolean =>
  Array.isArray(parameters?.required) && parameters.required.length > 0
