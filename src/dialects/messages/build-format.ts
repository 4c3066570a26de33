import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import type { InferenceRequest } from '../../core/request.ts'
import { ANSWER_TOOL } from '../answer-tool.ts'
import type { Traits } from '../claude.ts'
import { strictSchema } from '../strict-schema.ts'
import type { Drop } from './marks.ts'

/**
 * A JSON schema for the answer: `output_config.format` where the model has it and can take the schema; else the
 * input of a tool that must be called, which the reader makes the text again. The API has no word for JSON without
 * a schema.
 */
export function applyFormat(body: JsonObject, request: InferenceRequest, traits: Traits, drop: Drop): void {
  const format = request.responseFormat
  if (format === undefined || format.type === 'text') return
  const named = isObject(format.json_schema) ? format.json_schema : {}
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

/** Beside the caller's own tools the model must call one of all; a tool that the caller forces stands alone. */
function addAnswerTool(
  body: JsonObject,
  { toolChoice }: InferenceRequest,
  schema: JsonObject,
  description: unknown,
  drop: Drop,
): void {
  const tools = Array.isArray(body.tools) ? body.tools : []
  if (tools.length > 0 && toolChoice !== undefined && toolChoice !== 'auto' && toolChoice !== 'none') {
    drop('response_format')
    return
  }
  const tool = {
    name: ANSWER_TOOL,
    description: isString(description) ? description : 'Answer with this tool, and with nothing else.',
    input_schema: schema,
  }
  const isFree = tools.length > 0 && toolChoice !== 'none'
  const former = isObject(body.tool_choice) ? body.tool_choice.disable_parallel_tool_use : undefined
  body.tools = [...tools, tool]
  body.tool_choice = {
    ...(isFree ? { type: 'any' } : { type: 'tool', name: ANSWER_TOOL }),
    ...(former === undefined ? {} : { disable_parallel_tool_use: former }),
  }
}
