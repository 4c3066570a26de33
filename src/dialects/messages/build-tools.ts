import type { JsonObject } from '../../core/events.ts'
import { asList, asObject, defined, fieldsOf, isObject } from '../../core/json.ts'
import type { FunctionTool, InferenceRequest, Tool, ToolChoice } from '../../core/request.ts'
import { ANSWER_TOOL, descriptionOfAnswer, isForced, strictSchema, type Traits } from '../claude.ts'
import type { Drop } from '../dropped.ts'
import { cacheMarkOf } from './fields.ts'

/** Anthropic's own tools carry a date (`web_search_20250305`, `bash_20250124`), except those of MCP servers. */
const NATIVE_TOOL = /_\d{8}$|^mcp_toolset$/

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

/**
 * A JSON schema for the answer: `output_config.format` if the model has it and can take the schema; else the
 * input of a tool that must be called, which the reader makes the text again. The API has no word for JSON without
 * a schema.
 */
export function applyFormat(body: JsonObject, request: InferenceRequest, traits: Traits, drop: Drop): void {
  const format = request.responseFormat
  if (format === undefined || format.type === 'text') return
  const named = fieldsOf(format.json_schema)
  const { schema, description } = named
  if (format.type !== 'json_schema' || !isObject(schema)) {
    drop('response_format')
    return
  }
  const strict = traits.takesSchema ? strictSchema(schema) : undefined
  if (isObject(strict)) body.output_config = { format: { type: 'json_schema', schema: strict } }
  else if (schema.type === 'object') addAnswerTool(body, request, schema, description, drop)
  else drop('response_format')
}

/** Beside the caller's own tools the model must call one of all; a tool that the caller forces excludes it. */
function addAnswerTool(
  body: JsonObject,
  { toolChoice }: InferenceRequest,
  schema: JsonObject,
  description: unknown,
  drop: Drop,
): void {
  const tools = asList(body.tools)
  if (tools.length > 0 && isForced(toolChoice)) {
    drop('response_format')
    return
  }
  const tool = {
    name: ANSWER_TOOL,
    description: descriptionOfAnswer(description),
    input_schema: schema,
  }
  const isFree = tools.length > 0 && toolChoice !== 'none'
  const former = asObject(body.tool_choice)?.disable_parallel_tool_use
  body.tools = [...tools, tool]
  body.tool_choice = {
    ...(isFree ? { type: 'any' } : { type: 'tool', name: ANSWER_TOOL }),
    ...(former === undefined ? {} : { disable_parallel_tool_use: former }),
  }
}
