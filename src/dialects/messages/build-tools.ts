import type { JsonObject } from '../../core/events.ts'
import { defined } from '../../core/json.ts'
import type { FunctionTool, InferenceRequest, Tool, ToolChoice } from '../../core/request.ts'
import type { Traits } from '../claude.ts'
import { cacheMarkOf, type Drop } from './marks.ts'

/** Anthropic's own tools carry a date: `web_search_20250305`, `bash_20250124`. */
const NATIVE_TOOL = /_\d{8}$/

/** Function tools, and Anthropic's own as they came; tools of other dialects are dropped by their type. */
export const writeTools = (tools: readonly Tool[], traits: Traits, drop: Drop): JsonObject[] =>
  tools.flatMap((tool) => {
    if (tool.type === 'function') return [writeFunction(tool, traits, drop)]
    const type = String(tool.data.type)
    if (NATIVE_TOOL.test(type)) return [{ ...tool.data }]
    drop(`tools.${type}`)
    return []
  })

function writeFunction(tool: FunctionTool, { takesSchema }: Traits, drop: Drop): JsonObject {
  const { name, description, parameters, strict, extra } = tool
  if (strict === true && !takesSchema) drop('tools.strict')
  for (const key of Object.keys(extra ?? {})) if (key !== 'cache_control') drop(`tools.${key}`)
  return defined({
    name,
    description,
    input_schema: { type: 'object', ...(parameters ?? { properties: {} }) },
    strict: strict === true && takesSchema ? true : undefined,
    ...cacheMarkOf(extra),
  })
}

/** `auto`, `none`, `any` (OpenAI's `required`) or `tool`; one call at a time is a field of the choice. */
export function writeToolChoice(request: InferenceRequest, drop: Drop): JsonObject | undefined {
  const choice = choiceOf(request.toolChoice, drop)
  if (request.parallelToolCalls !== false) return choice
  if (choice?.type === 'none') return choice
  return { ...(choice ?? { type: 'auto' }), disable_parallel_tool_use: true }
}

function choiceOf(choice: ToolChoice | undefined, drop: Drop): JsonObject | undefined {
  if (choice === undefined) return undefined
  if (choice === 'required') return { type: 'any' }
  if (typeof choice === 'string') return { type: choice }
  if (choice.type === 'function') return { type: 'tool', name: choice.name }
  drop('tool_choice')
  return undefined
}
