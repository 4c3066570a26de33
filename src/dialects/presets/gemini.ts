import type { JsonObject } from '../../core/events.ts'
import { defined, fieldsOf, isObject } from '../../core/json.ts'
import { type PresetForm, pick, textOf } from './form.ts'

const SAME = ['model', 'models', 'plugins', 'provider', 'route'] as const

/** Field of `generationConfig` → the preset's. */
const CONFIG = [
  ['temperature', 'temperature'],
  ['topP', 'top_p'],
  ['topK', 'top_k'],
  ['seed', 'seed'],
  ['presencePenalty', 'presence_penalty'],
  ['frequencyPenalty', 'frequency_penalty'],
  ['responseLogprobs', 'logprobs'],
  ['logprobs', 'top_logprobs'],
] as const

/**
 * | Gemini | preset |
 * |---|---|
 * | `systemInstruction` | the system prompt |
 * | `generationConfig` | sampling, `max_completion_tokens`, `stop`, `modalities` |
 * | `thinkingConfig` | `reasoning` |
 * | `responseJsonSchema` | `response_format` |
 * | function declarations | function tools |
 * | modes AUTO, ANY, NONE | `auto`, `required`, `none` |
 */
export const geminiPreset: PresetForm = {
  take(body) {
    const config = fieldsOf(body['generationConfig'])
    const system = isObject(body['systemInstruction']) ? textOf(body['systemInstruction']['parts']) : ''
    const settings = Object.fromEntries(
      CONFIG.flatMap(([own, name]) => (config[own] == null ? [] : [[name, config[own]]])),
    )
    return {
      config: defined({
        ...pick(body, SAME),
        ...settings,
        max_completion_tokens: config['maxOutputTokens'] ?? undefined,
        stop: config['stopSequences'] ?? undefined,
      }),
      systemPrompt: system === '' ? null : system,
    }
  },
  give(config) {
    const { stop, modalities } = config
    const settings = Object.fromEntries(
      CONFIG.flatMap(([own, name]) => (config[name] == null ? [] : [[own, config[name]]])),
    )
    const generationConfig = defined<JsonObject>({
      ...settings,
      maxOutputTokens: config['max_completion_tokens'] ?? config['max_tokens'],
      stopSequences: typeof stop === 'string' ? [stop] : stop,
      responseModalities: Array.isArray(modalities)
        ? modalities.map((each) => String(each).toUpperCase())
        : undefined,
      thinkingConfig: thinkingOf(config['reasoning'], config['reasoning_effort']),
      ...formatOf(config['response_format']),
    })
    return defined<JsonObject>({
      ...pick(config, SAME),
      generationConfig: Object.keys(generationConfig).length > 0 ? generationConfig : undefined,
      tools: Array.isArray(config['tools']) ? config['tools'].flatMap(declarationOf) : undefined,
      toolConfig: choiceOf(config['tool_choice']),
    })
  },
  withSystem: (body, text) =>
    isObject(body['systemInstruction']) ? body : { ...body, systemInstruction: { parts: [{ text }] } },
  synonyms: [['model', 'models']],
  nested: ['generationConfig'],
}

function thinkingOf(reasoning: unknown, effort: unknown): JsonObject | undefined {
  const wanted = isObject(reasoning) ? reasoning : effort == null ? {} : { effort }
  if (wanted['enabled'] === false || wanted['effort'] === 'none') return { thinkingBudget: 0 }
  if (typeof wanted['max_tokens'] === 'number') return { thinkingBudget: wanted['max_tokens'] }
  const level = LEVELS[String(wanted['effort'])]
  if (level !== undefined) return { thinkingLevel: level }
  return wanted['enabled'] === true ? { thinkingBudget: -1 } : undefined
}

const LEVELS: Readonly<Record<string, string>> = {
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}

function formatOf(format: unknown): JsonObject {
  if (!isObject(format) || format['type'] === 'text') return {}
  const json = format['json_schema']
  const responseMimeType = 'application/json'
  return isObject(json) && isObject(json['schema'])
    ? { responseMimeType, responseJsonSchema: json['schema'] }
    : { responseMimeType }
}

/** One function in each tool, so that a request's own of the same name takes its place. */
function declarationOf(tool: unknown): JsonObject[] {
  const fields = isObject(tool) && tool['type'] === 'function' ? tool['function'] : undefined
  if (!isObject(fields)) return []
  const { name, description, parameters } = fields
  return [{ functionDeclarations: [defined({ name, description, parametersJsonSchema: parameters })] }]
}

const MODES: Readonly<Record<string, string>> = { auto: 'AUTO', none: 'NONE', required: 'ANY' }

function choiceOf(choice: unknown): JsonObject | undefined {
  const chosen = fieldsOf(fieldsOf(choice)['function'])['name']
  if (chosen !== undefined) {
    return { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [chosen] } }
  }
  const mode = MODES[String(choice)]
  return mode === undefined ? undefined : { functionCallingConfig: { mode } }
}
