import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import type { FunctionTool, InferenceRequest, Tool, ToolChoice } from '../../core/request.ts'
import type { Turn } from './build-messages.ts'
import { cachePointFor, type Drop } from './marks.ts'
import type { Abilities } from './model.ts'
import { writeToolName } from './names.ts'

export interface ToolConfig {
  tools: JsonObject[]
  toolChoice?: JsonObject
}

/**
 * | tools, tool_choice | Converse |
 * |---|---|
 * | function | `toolSpec` |
 * | `web_search_options` | Nova's `nova_grounding`; for others dropped by name |
 * | `{systemTool}` | as it came |
 * | auto / required / one function | `auto` / `any` / `tool` |
 * | none | no tools, which is named; where the conversation has calls, they stay: the API wants them declared |
 * | `parallel_tool_calls: false` | dropped by name |
 */
export function writeTools(
  request: InferenceRequest,
  turns: readonly Turn[],
  abilities: Abilities,
  drop: Drop,
): ToolConfig | undefined {
  const calledNames = namesIn(turns)
  const isNone = request.toolChoice === 'none'
  if (isNone && request.tools.length > 0) drop(calledNames.size === 0 ? 'tools' : 'tool_choice')
  const tools =
    isNone && calledNames.size === 0
      ? []
      : request.tools.flatMap((tool) => [
          ...writeTool(tool, abilities, drop),
          ...cachePointFor(extraOf(tool), { ...abilities, caches: abilities.cachesTools }, drop),
        ])
  if (wantsGrounding(request, abilities)) tools.push({ systemTool: { name: 'nova_grounding' } })
  if (!tools.some((tool) => isObject(tool['toolSpec']))) tools.push(...declared(calledNames))
  if (tools.length === 0) return undefined
  if (request.parallelToolCalls === false) drop('parallel_tool_calls')
  const toolChoice = writeChoice(request.toolChoice, abilities, drop)
  return { tools, ...(toolChoice === undefined ? {} : { toolChoice }) }
}

/** The wire names of all tools that the conversation has called. */
function namesIn(turns: readonly Turn[]): Set<string> {
  const uses = turns.flatMap(({ content }) => content.map((block) => block['toolUse']))
  return new Set(uses.flatMap((use) => (isObject(use) ? [String(use['name'])] : [])))
}

/** Calls without any declared tool are refused: what was called once is declared by its name. */
const declared = (names: ReadonlySet<string>): JsonObject[] =>
  [...names].map((name) => ({
    toolSpec: { name, inputSchema: { json: { type: 'object', properties: {} } } },
  }))

const extraOf = (tool: Tool): JsonObject | undefined => (tool.type === 'function' ? tool.extra : undefined)

export const wantsGrounding = ({ body }: InferenceRequest, { family }: Abilities): boolean =>
  family === 'Nova 2' && isObject(body['web_search_options'])

function writeTool(tool: Tool, { takesSchema }: Abilities, drop: Drop): JsonObject[] {
  if (tool.type === 'function') return [{ toolSpec: writeFunction(tool, takesSchema, drop) }]
  if (isObject(tool.data['systemTool'])) return [{ systemTool: tool.data['systemTool'] }]
  drop(`tools.${String(tool.data['type'])}`)
  return []
}

function writeFunction(tool: FunctionTool, takesSchema: boolean, drop: Drop): JsonObject {
  const { name, description, parameters, strict, extra } = tool
  if (strict === true && !takesSchema) drop('tools.strict')
  for (const key of Object.keys(extra ?? {})) if (key !== 'cache_control') drop(`tools.${key}`)
  return {
    name: writeToolName(name),
    ...(description?.trim() ? { description } : {}),
    inputSchema: { json: { type: 'object', ...(parameters ?? { properties: {} }) } },
    ...(strict === true && takesSchema ? { strict: true } : {}),
  }
}

function writeChoice(
  choice: ToolChoice | undefined,
  { forces }: Abilities,
  drop: Drop,
): JsonObject | undefined {
  if (choice === undefined || choice === 'none') return undefined
  if (choice === 'auto') return { auto: {} }
  if (forces && choice === 'required') return { any: {} }
  if (forces && typeof choice !== 'string' && choice.type === 'function') {
    return { tool: { name: writeToolName(choice.name) } }
  }
  drop('tool_choice')
  return undefined
}
