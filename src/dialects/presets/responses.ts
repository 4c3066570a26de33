import type { JsonObject } from '../../core/events.ts'
import { defined, isObject } from '../../core/json.ts'
import { type PresetForm, pick, SHARED_FIELDS } from './preset-form.ts'

/**
 * | Responses | preset |
 * |---|---|
 * | `max_output_tokens` | `max_completion_tokens` |
 * | `text.format`, `text.verbosity` | `response_format`, `verbosity` |
 * | function tools and choices, flat | the same, nested below `function` |
 * | `instructions` | the system prompt |
 */
export const responsesPreset: PresetForm = {
  take(body) {
    const text = isObject(body['text']) ? body['text'] : {}
    const config = defined({
      ...pick(body, SHARED_FIELDS),
      max_completion_tokens: body['max_output_tokens'] ?? undefined,
      response_format: nestedFormat(text['format']),
      verbosity: text['verbosity'] ?? undefined,
      tools: Array.isArray(body['tools']) ? body['tools'].map(nested) : undefined,
      tool_choice: nested(body['tool_choice'] ?? undefined),
    })
    const { instructions } = body
    return {
      config,
      systemPrompt: typeof instructions === 'string' && instructions !== '' ? instructions : null,
    }
  },
  give(config) {
    const { response_format, verbosity, tools, tool_choice, reasoning, reasoning_effort } = config
    const text = defined({ format: flatFormat(response_format), verbosity })
    return defined({
      ...pick(config, SHARED_FIELDS),
      max_output_tokens: config['max_completion_tokens'] ?? config['max_tokens'],
      text: Object.keys(text).length > 0 ? text : undefined,
      tools: Array.isArray(tools) ? tools.map(flat) : undefined,
      tool_choice: flat(tool_choice),
      reasoning: reasoning ?? (reasoning_effort === undefined ? undefined : { effort: reasoning_effort }),
    })
  },
  withSystem: (body, instructions) =>
    typeof body['instructions'] === 'string' && body['instructions'] !== ''
      ? body
      : { ...body, instructions },
  synonyms: [['model', 'models']],
}

function nested(value: unknown): unknown {
  if (!isObject(value) || value['type'] !== 'function' || isObject(value['function'])) return value
  const { type, ...fields } = value
  return { type, function: fields }
}

function flat(value: unknown): unknown {
  if (!isObject(value) || value['type'] !== 'function' || !isObject(value['function'])) return value
  const { function: fields, ...rest } = value
  return { ...rest, ...(isObject(fields) ? fields : {}) }
}

function nestedFormat(format: unknown): JsonObject | undefined {
  if (!isObject(format) || format['type'] === 'text') return undefined
  if (format['type'] !== 'json_schema') return format
  const { type, ...fields } = format
  return { type, json_schema: fields }
}

function flatFormat(format: unknown): unknown {
  if (!isObject(format) || !isObject(format['json_schema'])) return format
  return { type: format['type'], ...format['json_schema'] }
}
