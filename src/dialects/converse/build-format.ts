import type { JsonObject } from '../../core/events.ts'
import { defined, isObject, isString } from '../../core/json.ts'
import type { InferenceRequest } from '../../core/request.ts'
import { ANSWER_TOOL } from '../answer-tool.ts'
import { strictSchema } from '../strict-schema.ts'
import type { ToolConfig } from './build-tools.ts'
import type { Drop } from './marks.ts'
import type { Abilities } from './model.ts'

export interface Format {
  outputConfig?: JsonObject
  toolConfig?: ToolConfig
}

/**
 * A JSON schema for the answer: `outputConfig.textFormat` where the model has it and can take the schema; else the
 * input of a tool that must be called, which the reader makes the text again. The API has no word for JSON without
 * a schema. `toolConfig`: what is known of the tools already; the answer has what to send.
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
  const named = isObject(format['json_schema']) ? format['json_schema'] : {}
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

/** Beside the caller's own tools the model must call one of all; a tool that the caller forces stands alone. */
function withAnswerTool(
  { toolChoice }: InferenceRequest,
  toolConfig: ToolConfig | undefined,
  schema: JsonObject,
  description: unknown,
): ToolConfig | undefined {
  if (schema['type'] !== 'object') return undefined
  const isForced = toolChoice !== undefined && toolChoice !== 'auto' && toolChoice !== 'none'
  if (toolConfig !== undefined && isForced) return undefined
  const toolSpec = {
    name: ANSWER_TOOL,
    description: isString(description) ? description : 'Answer with this tool, and with nothing else.',
    inputSchema: { json: schema },
  }
  const isFree = toolConfig !== undefined && toolChoice !== 'none'
  return {
    tools: [...(toolConfig?.tools ?? []), { toolSpec }],
    toolChoice: isFree ? { any: {} } : { tool: { name: ANSWER_TOOL } },
  }
}
