import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import type { FunctionTool, InferenceRequest, ToolChoice } from '../../core/request.ts'
import { type LeaveOut, leaveOutExtra } from './build-parts.ts'
import { type Generation, generationOf } from './build-thinking.ts'
import { writeSchema } from './json-schema.ts'
import type { Room } from './json-schema-rules.ts'

/**
 * | tools, tool_choice | Gemini's |
 * |---|---|
 * | function | `functionDeclarations` |
 * | `web_search_options` | `googleSearch`; with functions only from Gemini 3 on |
 * | auto / none / required | mode AUTO / NONE / ANY |
 * | one function | ANY and `allowedFunctionNames` |
 *
 * Left out and named: built-in tools of others, `strict`, other choices, `parallel_tool_calls: false`.
 */
export function writeTools(
  request: InferenceRequest,
  upstreamId: string,
  leaveOut: LeaveOut,
  room: Room,
): JsonObject {
  const functions: JsonObject[] = []
  for (const tool of request.tools) {
    if (tool.type === 'other') leaveOut(`tools.${String(tool.data['type'])}`)
    else functions.push(writeFunction(tool, leaveOut, room))
  }
  const tools: JsonObject[] = functions.length > 0 ? [{ functionDeclarations: functions }] : []
  if (wantsSearch(request, functions.length, generationOf(upstreamId), leaveOut))
    tools.push({ googleSearch: {} })
  if (functions.length > 0 && request.parallelToolCalls === false) leaveOut('parallel_tool_calls')
  const config = functions.length > 0 ? writeChoice(request.toolChoice, leaveOut) : undefined
  return {
    ...(tools.length > 0 ? { tools } : {}),
    ...(config === undefined ? {} : { toolConfig: { functionCallingConfig: config } }),
  }
}

function writeFunction(
  { name, description, parameters, strict, extra }: FunctionTool,
  leaveOut: LeaveOut,
  room: Room,
) {
  if (strict === true) leaveOut('tools.strict')
  leaveOutExtra(extra, 'tools', leaveOut)
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...writeParameters(parameters, leaveOut, room),
  }
}

/** An object without properties is refused: such a function is declared without parameters. */
function writeParameters(parameters: JsonObject | undefined, leaveOut: LeaveOut, room: Room): JsonObject {
  if (parameters === undefined) return {}
  const { properties, additionalProperties } = parameters
  const isEmpty = !isObject(properties) || Object.keys(properties).length === 0
  const isPlain = parameters['$ref'] === undefined && parameters['anyOf'] === undefined
  if (isEmpty && isPlain && !isObject(additionalProperties)) return {}
  const { form, schema } = writeSchema(parameters, 'tools.parameters', leaveOut, room)
  return form === 'openapi' ? { parameters: schema } : { parametersJsonSchema: schema }
}

function wantsSearch(
  { body, dialect }: InferenceRequest,
  functions: number,
  { isGemini3 }: Generation,
  leaveOut: LeaveOut,
): boolean {
  const options = dialect === 'chat' ? body['web_search_options'] : undefined
  if (!isObject(options)) return false
  if (functions > 0 && !isGemini3) {
    leaveOut('web_search_options')
    return false
  }
  for (const name of Object.keys(options)) leaveOut(`web_search_options.${name}`)
  return true
}

const MODES = { auto: 'AUTO', none: 'NONE', required: 'ANY' } as const

function writeChoice(choice: ToolChoice | undefined, leaveOut: LeaveOut): JsonObject | undefined {
  if (choice === undefined) return undefined
  if (typeof choice === 'string') return { mode: MODES[choice] }
  if (choice.type === 'function') return { mode: 'ANY', allowedFunctionNames: [choice.name] }
  leaveOut('tool_choice')
  return undefined
}
