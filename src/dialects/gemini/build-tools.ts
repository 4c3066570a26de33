import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import { bodyIn, type FunctionTool, type InferenceRequest, type ToolChoice } from '../../core/request.ts'
import type { Drop } from '../dropped.ts'
import { isNativeSearch, nativeSearchFields } from '../native-search.ts'
import { dropExtra } from './build-parts.ts'
import { type Generation, generationOf } from './build-thinking.ts'
import { writeSchema } from './json-schema.ts'
import type { SchemaBudget } from './json-schema-rules.ts'

/**
 * | tools, tool_choice | Gemini's |
 * |---|---|
 * | function | `functionDeclarations` |
 * | `web_search_options`, Anthropic's `web_search_…` | `googleSearch`; with functions only from Gemini 3 on |
 * | auto / none / required | mode AUTO / NONE / ANY |
 * | one function | ANY and `allowedFunctionNames` |
 *
 * Left out and named: built-in tools of others, `strict`, other choices, `parallel_tool_calls: false`.
 */
export function writeTools(
  request: InferenceRequest,
  upstreamId: string,
  drop: Drop,
  budget: SchemaBudget,
): JsonObject {
  const functions: JsonObject[] = []
  for (const tool of request.tools) {
    if (tool.type === 'other') {
      if (!isNativeSearch(tool)) drop(`tools.${String(tool.data['type'])}`)
    } else functions.push(writeFunction(tool, drop, budget))
  }
  const tools: JsonObject[] = functions.length > 0 ? [{ functionDeclarations: functions }] : []
  if (wantsSearch(request, functions.length, generationOf(upstreamId), drop)) tools.push({ googleSearch: {} })
  if (functions.length > 0 && request.parallelToolCalls === false) drop('parallel_tool_calls')
  const config = functions.length > 0 ? writeChoice(request.toolChoice, drop) : undefined
  return {
    ...(tools.length > 0 ? { tools } : {}),
    ...(config === undefined ? {} : { toolConfig: { functionCallingConfig: config } }),
  }
}

function writeFunction(
  { name, description, parameters, strict, extra }: FunctionTool,
  drop: Drop,
  budget: SchemaBudget,
) {
  if (strict === true) drop('tools.strict')
  dropExtra(extra, 'tools', drop)
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...writeParameters(parameters, drop, budget),
  }
}

/** An object without properties is refused: such a function is declared without parameters. */
function writeParameters(parameters: JsonObject | undefined, drop: Drop, budget: SchemaBudget): JsonObject {
  if (parameters === undefined) return {}
  const { properties, additionalProperties } = parameters
  const isEmpty = !isObject(properties) || Object.keys(properties).length === 0
  const isPlain = parameters['$ref'] === undefined && parameters['anyOf'] === undefined
  if (isEmpty && isPlain && !isObject(additionalProperties)) return {}
  const { form, schema } = writeSchema(parameters, 'tools.parameters', drop, budget)
  return form === 'openapi' ? { parameters: schema } : { parametersJsonSchema: schema }
}

function wantsSearch(
  request: InferenceRequest,
  functions: number,
  { isGemini3 }: Generation,
  drop: Drop,
): boolean {
  const own = bodyIn(request, 'chat')?.['web_search_options']
  const tool = request.tools.find(isNativeSearch)
  const options = isObject(own) ? own : tool && nativeSearchFields(tool)
  if (options === undefined) return false
  const place = isObject(own) ? 'web_search_options' : 'tools.web_search'
  if (functions > 0 && !isGemini3) {
    drop(place)
    return false
  }
  for (const name of Object.keys(options)) drop(`${place}.${name}`)
  return true
}

const MODES = { auto: 'AUTO', none: 'NONE', required: 'ANY' } as const

function writeChoice(choice: ToolChoice | undefined, drop: Drop): JsonObject | undefined {
  if (choice === undefined) return undefined
  if (typeof choice === 'string') return { mode: MODES[choice] }
  if (choice.type === 'function') return { mode: 'ANY', allowedFunctionNames: [choice.name] }
  drop('tool_choice')
  return undefined
}
