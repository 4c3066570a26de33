import type { JsonObject } from '../../core/events.ts'
import { asList, defined, fieldsOf, isObject } from '../../core/json.ts'
import { type PresetForm, pick, SHARED_FIELDS, textOf } from './form.ts'
import { geminiPreset } from './gemini.ts'
import { messagesPreset } from './messages.ts'

const FIELDS = [
  ...SHARED_FIELDS,
  'top_a',
  'min_p',
  'repetition_penalty',
  'seed',
  'stop',
  'max_tokens',
  'max_completion_tokens',
  'logit_bias',
  'logprobs',
  'reasoning_effort',
  'response_format',
  'tools',
  'tool_choice',
  'verbosity',
] as const

const isSystem = (message: unknown): message is JsonObject =>
  isObject(message) && (message['role'] === 'system' || message['role'] === 'developer')

/** Presets have chat's own names. The system prompt is the text of the leading system messages. */
const chatPreset: PresetForm = {
  take(body) {
    const messages = asList(body['messages'])
    const end = messages.findIndex((message) => !isSystem(message))
    const leading = messages.slice(0, end === -1 ? messages.length : end).filter(isSystem)
    const text = leading.map((message) => textOf(message['content'])).join('\n\n')
    return { config: pick(body, FIELDS), systemPrompt: text === '' ? null : text }
  },
  give: (config) => pick(config, FIELDS),
  withSystem(body, content) {
    const messages = asList(body['messages'])
    return isSystem(messages[0]) ? body : { ...body, messages: [{ role: 'system', content }, ...messages] }
  },
  synonyms: [
    ['model', 'models'],
    ['max_tokens', 'max_completion_tokens'],
    ['reasoning', 'reasoning_effort'],
  ],
}

/**
 * | Responses | preset |
 * |---|---|
 * | `max_output_tokens` | `max_completion_tokens` |
 * | `text.format`, `text.verbosity` | `response_format`, `verbosity` |
 * | function tools and choices, flat | the same, nested below `function` |
 * | `instructions` | the system prompt |
 */
const responsesPreset: PresetForm = {
  take(body) {
    const text = fieldsOf(body['text'])
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
  return { ...rest, ...fieldsOf(fields) }
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

/** The dialects whose requests can become presets and use them. */
export type PresetDialect = 'chat' | 'responses' | 'messages' | 'gemini'

export const presetForms = {
  chat: chatPreset,
  responses: responsesPreset,
  messages: messagesPreset,
  gemini: geminiPreset,
} satisfies Record<PresetDialect, PresetForm>
