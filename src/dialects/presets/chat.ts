import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import { type PresetForm, pick, SHARED_FIELDS, textOf } from './preset-form.ts'

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

/** The words of presets are chat's own. The system prompt is what the leading system messages say. */
export const chatPreset: PresetForm = {
  take(body) {
    const messages: unknown[] = Array.isArray(body['messages']) ? body['messages'] : []
    const end = messages.findIndex((message) => !isSystem(message))
    const leading = messages.slice(0, end === -1 ? messages.length : end).filter(isSystem)
    const text = leading.map((message) => textOf(message['content'])).join('\n\n')
    return { config: pick(body, FIELDS), systemPrompt: text === '' ? null : text }
  },
  give: (config) => pick(config, FIELDS),
  withSystem(body, content) {
    const messages: unknown[] = Array.isArray(body['messages']) ? body['messages'] : []
    return isSystem(messages[0]) ? body : { ...body, messages: [{ role: 'system', content }, ...messages] }
  },
  synonyms: [
    ['model', 'models'],
    ['max_tokens', 'max_completion_tokens'],
    ['reasoning', 'reasoning_effort'],
  ],
}
