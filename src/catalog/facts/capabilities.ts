import type { SeedReasoning } from '../seed.ts'
import type { FactModel } from './document.ts'

/**
 * All parameters of the API. A model without a listed set gets all of them except those that its metadata denies: an
 * unknown parameter must not be left out of a request.
 */
const VOCABULARY = (
  'frequency_penalty include_reasoning logit_bias logprobs max_completion_tokens max_tokens min_p parallel_tool_calls ' +
  'prediction presence_penalty reasoning reasoning_effort repetition_penalty response_format seed stop ' +
  'structured_outputs temperature tool_choice tools top_a top_k top_logprobs top_p verbosity web_search_options'
).split(' ')
const SAMPLING = ['frequency_penalty', 'presence_penalty', 'temperature', 'top_p']
const NOT_TEXT = ['embeddings', 'rerank', 'speech', 'transcription', 'moderation', 'ocr']

export const inputOf = (model: FactModel): string[] =>
  unique(model.input.map((name) => (name === 'pdf' ? 'file' : name)))

/** The metadata has no embeddings, reranking or transcription: such models are recognised by their names. */
export function outputOf(model: FactModel): string[] {
  const name = model.id.toLowerCase()
  if (/rerank/.test(name)) return ['rerank']
  if (/(^|[-/])moderation([-/]|$)/.test(name)) return ['moderation']
  if (/embed|(^|\/)(bge-(?!reranker)|e5-|gte-|multilingual-e5|voyage-|all-minilm)/.test(name))
    return ['embeddings']
  if (/whisper|transcribe|(^|[-/])stt([-/]|$)/.test(name)) return ['transcription']
  if (/(^|[-/])tts([-/]|$)/.test(name)) return ['speech']
  return unique(model.output.map((kind) => (kind === 'pdf' ? 'file' : kind)))
}

/** `listed`: what OpenRouter lists for the model; the endpoint's own facts add to it and take from it. */
export function parametersOf(model: FactModel, listed: readonly string[] | undefined): string[] {
  if (outputOf(model).some((kind) => NOT_TEXT.includes(kind))) return []
  const names = new Set(listed ?? VOCABULARY)
  const set = (given: readonly string[], has: boolean): void => {
    for (const name of given) {
      if (has) names.add(name)
      else names.delete(name)
    }
  }
  set(['tools', 'tool_choice'], model.callsTools)
  set(['reasoning', 'include_reasoning'], model.reasoning)
  if (!model.callsTools) names.delete('parallel_tool_calls')
  set(['reasoning_effort'], model.efforts.length > 0 || (model.reasoning && names.has('reasoning_effort')))
  if (model.structuredOutput !== null) set(['structured_outputs'], model.structuredOutput)
  if (listed === undefined && !model.takesTemperature) set(SAMPLING, false)
  return [...names].sort()
}

/**
 * Claude thinks only if a request asks for it. The metadata has no field for that: it has only the budget or the efforts.
 * For Fable this is not documented.
 */
const THINKS_WHEN_ASKED = /claude-(?!fable|code)/i

export function reasoningOf(model: FactModel): SeedReasoning | null {
  if (!model.reasoning) return null
  return {
    mandatory:
      !model.mayStopReasoning && !model.efforts.includes('none') && !THINKS_WHEN_ASKED.test(model.id),
    supported_efforts: model.efforts.length === 0 ? null : model.efforts,
    supports_max_tokens: model.takesReasoningBudget,
  }
}

/** OpenAI serves these only on /responses. */
const RESPONSES_ONLY = /-pro(?:-\d{4}-\d{2}-\d{2})?$|codex|deep-research|^computer-use-preview/

/** Models that a provider serves in another dialect than its own, which the facts do not say. */
const SERVED_IN: Readonly<Record<string, readonly { is(model: FactModel): boolean; dialect: string }[]>> = {
  cohere: [{ is: (model) => outputOf(model).includes('rerank'), dialect: 'cohere' }],
  openai: [{ is: ({ id }) => RESPONSES_ONLY.test(id), dialect: 'responses' }],
  xai: [{ is: ({ id }) => id.includes('multi-agent'), dialect: 'responses' }],
}
const COMPATIBLE = new Set(['@ai-sdk/openai-compatible', '@ai-sdk/openai'])

/** Clouds serve the models of several makers, each in its own way. */
const CLOUDS: Readonly<Record<string, (model: FactModel) => string | null | undefined>> = {
  'google-vertex': ({ id, override }) => {
    if (override?.npm?.endsWith('/anthropic')) return 'messages'
    return override?.api?.endsWith('/endpoints/openapi') || /-maas$/.test(id) ? 'chat' : 'gemini'
  },
  azure: ({ id, override }) => {
    // The v1 API serves what the older address of Foundry's models does.
    if (override?.api && !override.api.endsWith('.services.ai.azure.com/models')) return undefined
    if (override?.npm && !COMPATIBLE.has(override.npm)) return undefined
    const isResponsesOnly = /^(?:gpt|codex|computer|o\d)/.test(id) && RESPONSES_ONLY.test(id)
    return override?.shape === 'responses' || isResponsesOnly ? 'responses' : null
  },
}

/**
 * The one dialect that a model is served in: null for its provider's own, undefined if that is another address or
 * a wire format that the provider's row does not speak.
 */
export function dialectOf(model: FactModel, provider: string): string | null | undefined {
  const { override } = model
  const cloud = CLOUDS[provider]
  if (cloud) return cloud(model)
  if (override?.api) return undefined
  if (override?.npm === '@ai-sdk/anthropic') return 'messages'
  if (override?.npm && !COMPATIBLE.has(override.npm)) return undefined
  if (override?.shape === 'responses') return 'responses'
  return SERVED_IN[provider]?.find(({ is }) => is(model))?.dialect ?? null
}

const unique = (names: readonly string[]): string[] => [...new Set(names)]
