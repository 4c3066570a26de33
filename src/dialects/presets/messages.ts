import type { JsonObject } from '../../core/events.ts'
import { defined, fieldsOf, isObject } from '../../core/json.ts'
import { words } from '../../core/words.ts'
import { type PresetForm, pick, textOf } from './form.ts'

const SAME = words('model models temperature top_p top_k max_tokens plugins provider route')

const TIERS: Readonly<Record<string, string>> = { auto: 'auto', standard_only: 'default' }
const NATIVE_TIERS: Readonly<Record<string, string>> = {
  auto: 'auto',
  priority: 'auto',
  default: 'standard_only',
}

/**
 * | Messages | preset |
 * |---|---|
 * | `system` | the system prompt |
 * | `stop_sequences` | `stop` |
 * | `thinking`, `output_config.effort` | `reasoning` |
 * | `output_config.format` | `response_format` |
 * | custom tools | function tools; server tools as they came |
 * | `tool_choice` `any`, `tool` | `required`, a function |
 * | `service_tier` `standard_only` | `default` |
 */
export const messagesPreset: PresetForm = {
  take(body) {
    const output = fieldsOf(body['output_config'])
    const config = defined({
      ...pick(body, SAME),
      stop: body['stop_sequences'] ?? undefined,
      reasoning: reasoningOf(body['thinking'], output['effort']),
      response_format: formatOf(output['format'] ?? body['output_format']),
      tools: Array.isArray(body['tools']) ? body['tools'].map(functionOf) : undefined,
      tool_choice: choiceOf(body['tool_choice']),
      parallel_tool_calls:
        isObject(body['tool_choice']) && body['tool_choice']['disable_parallel_tool_use'] === true
          ? false
          : undefined,
      service_tier: TIERS[String(body['service_tier'])],
    })
    const text = textOf(body['system'])
    return { config, systemPrompt: text === '' ? null : text }
  },
  give(config) {
    const { stop, reasoning, reasoning_effort, response_format, tools } = config
    const effort = isObject(reasoning) ? reasoning['effort'] : reasoning_effort
    const format =
      isObject(response_format) && isObject(response_format['json_schema'])
        ? { type: 'json_schema', schema: response_format['json_schema']['schema'] }
        : undefined
    const output = defined({ effort: EFFORTS.includes(String(effort)) ? effort : undefined, format })
    return defined({
      ...pick(config, SAME),
      max_tokens: config['max_completion_tokens'] ?? config['max_tokens'],
      stop_sequences: typeof stop === 'string' ? [stop] : stop,
      thinking: thinkingOf(reasoning),
      output_config: Object.keys(output).length > 0 ? output : undefined,
      tools: Array.isArray(tools) ? tools.map(customOf) : undefined,
      tool_choice: nativeChoiceOf(config['tool_choice'], config['parallel_tool_calls']),
      service_tier: NATIVE_TIERS[String(config['service_tier'])],
    })
  },
  withSystem: (body, system) => (textOf(body['system']) === '' ? { ...body, system } : body),
  synonyms: [['model', 'models']],
}

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max']

function reasoningOf(thinking: unknown, effort: unknown): JsonObject | undefined {
  if (!isObject(thinking)) return effort === undefined || effort === null ? undefined : { effort }
  if (thinking['type'] === 'disabled') return { enabled: false }
  return defined({ enabled: true, max_tokens: thinking['budget_tokens'], effort: effort ?? undefined })
}

function thinkingOf(reasoning: unknown): JsonObject | undefined {
  if (!isObject(reasoning)) return undefined
  if (reasoning['enabled'] === false || reasoning['effort'] === 'none') return { type: 'disabled' }
  const budget = reasoning['max_tokens']
  if (typeof budget === 'number') return { type: 'enabled', budget_tokens: budget }
  return reasoning['enabled'] === true ? { type: 'adaptive' } : undefined
}

const formatOf = (format: unknown): JsonObject | undefined =>
  isObject(format)
    ? { type: 'json_schema', json_schema: { name: 'answer', schema: format['schema'], strict: true } }
    : undefined

function functionOf(tool: unknown): unknown {
  if (!isObject(tool) || (tool['type'] !== undefined && tool['type'] !== 'custom')) return tool
  const { type: _type, name, description, input_schema: parameters, strict, ...rest } = tool
  return { type: 'function', function: defined({ name, description, parameters, strict }), ...rest }
}

function customOf(tool: unknown): unknown {
  if (!isObject(tool) || tool['type'] !== 'function' || !isObject(tool['function'])) return tool
  const { type: _type, function: fields, ...rest } = tool
  const { name, description, parameters, strict } = fieldsOf(fields)
  return defined({ name, description, input_schema: parameters ?? { type: 'object' }, strict, ...rest })
}

function choiceOf(choice: unknown): unknown {
  if (!isObject(choice)) return undefined
  if (choice['type'] === 'any') return 'required'
  return choice['type'] === 'tool' ? { type: 'function', function: { name: choice['name'] } } : choice['type']
}

function nativeChoiceOf(choice: unknown, parallel: unknown): JsonObject | undefined {
  const single = parallel === false ? { disable_parallel_tool_use: true } : {}
  if (choice === 'none') return { type: 'none' }
  if (choice === 'required') return { type: 'any', ...single }
  if (isObject(choice) && isObject(choice['function']))
    return { type: 'tool', name: choice['function']['name'], ...single }
  return choice === 'auto' || parallel === false ? { type: 'auto', ...single } : undefined
}
