import type { JsonObject } from '../../core/events.ts'
import { defined, fieldsOf, isObject } from '../../core/json.ts'
import type { FunctionTool, InferenceRequest, Tool, ToolChoice } from '../../core/request.ts'
import type { Turn } from '../claude.ts'
import { ANSWER_TOOL, descriptionOfAnswer, isForced, strictSchema } from '../claude.ts'
import type { Drop } from '../dropped.ts'
import { type Abilities, cachePointFor } from './model.ts'
import { writeToolName } from './names.ts'

interface ToolConfig {
  tools: JsonObject[]
  toolChoice?: JsonObject
}

/**
 * | tools, tool_choice | Converse |
 * |---|---|
 * | function | `toolSpec` |
 * | `web_search_options` | Nova's `nova_grounding`; for others dropped by name |
 * | `{systemTool}` | unchanged |
 * | auto / required / one function | `auto` / `any` / `tool` |
 * | none | no tools, dropped by name; kept if the conversation has calls, which the API wants declared |
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

/** The wire names of all tools that the conversation calls. */
function namesIn(turns: readonly Turn[]): Set<string> {
  const uses = turns.flatMap(({ content }) => content.map((block) => block['toolUse']))
  return new Set(uses.flatMap((use) => (isObject(use) ? [String(use['name'])] : [])))
}

/** The API rejects calls without any declared tool, so called tools are declared by name. */
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

interface Format {
  outputConfig?: JsonObject
  toolConfig?: ToolConfig
}

/**
 * A JSON schema for the answer: `outputConfig.textFormat` if the model has it and accepts the schema, else the input of a
 * tool that must be called, which the decoder turns back into text. The API has nothing for JSON without a schema.
 * `toolConfig` is that of the caller's tools; the result has the one to send.
 */
export function writeFormat(
  request: InferenceRequest,
  toolConfig: ToolConfig | undefined,
  abilities: Abilities,
  drop: Drop,
): Format {
  const former = toolConfig === undefined ? {} : { toolConfig }
  const format = request.responseFormat
  if (format === undefined || format['type'] === 'text') return former
  const named = fieldsOf(format['json_schema'])
  const { schema, name, description } = named
  if (format['type'] === 'json_schema' && isObject(schema)) {
    const strict = abilities.takesSchema ? strictSchema(schema) : undefined
    if (isObject(strict)) {
      const jsonSchema = defined({ schema: JSON.stringify(strict), name, description })
      return { ...former, outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } }
    }
    const answer = withAnswerTool(request, toolConfig, schema, description)
    if (abilities.forces && answer !== undefined) return { toolConfig: answer }
  }
  drop('response_format')
  return former
}

/** Beside the caller's tools the model must call any one; a tool that the caller forces excludes the answer tool. */
function withAnswerTool(
  { toolChoice }: InferenceRequest,
  toolConfig: ToolConfig | undefined,
  schema: JsonObject,
  description: unknown,
): ToolConfig | undefined {
  if (schema['type'] !== 'object') return undefined
  if (toolConfig !== undefined && isForced(toolChoice)) return undefined
  const toolSpec = {
    name: ANSWER_TOOL,
    description: descriptionOfAnswer(description),
    inputSchema: { json: schema },
  }
  const isFree = toolConfig !== undefined && toolChoice !== 'none'
  return {
    tools: [...(toolConfig?.tools ?? []), { toolSpec }],
    toolChoice: isFree ? { any: {} } : { tool: { name: ANSWER_TOOL } },
  }
}
