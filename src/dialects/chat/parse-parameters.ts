import type { JsonObject } from '../../core/events.ts'
import type { Sampling } from '../../core/request.ts'
import type { ChatBody } from './schema.ts'

/** The request's parameters that the catalogue has a word for (`supported_parameters`). */
const CATALOGUE_PARAMETERS = [
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'top_a',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'max_tokens',
  'max_completion_tokens',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'prediction',
  'seed',
  'response_format',
  'stop',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'include_reasoning',
  'reasoning',
  'reasoning_effort',
  'web_search_options',
  'verbosity',
] as const

/** Those of them that the caller set; null and an empty list are not set. */
export function parametersOf(body: JsonObject & ChatBody): string[] {
  const names: string[] = []
  for (const name of CATALOGUE_PARAMETERS) if (isSet(body[name])) names.push(name)
  if (body.response_format?.type === 'json_schema') names.push('structured_outputs')
  return names
}

const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)

export function readSampling(body: ChatBody): Sampling {
  const stop = typeof body.stop === 'string' ? [body.stop] : body.stop
  return {
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined,
    topK: body.top_k ?? undefined,
    topA: body.top_a ?? undefined,
    minP: body.min_p ?? undefined,
    frequencyPenalty: body.frequency_penalty ?? undefined,
    presencePenalty: body.presence_penalty ?? undefined,
    repetitionPenalty: body.repetition_penalty ?? undefined,
    seed: body.seed ?? undefined,
    stop: stop && stop.length > 0 ? stop : undefined,
    logitBias: body.logit_bias ?? undefined,
    logprobs: body.logprobs ?? undefined,
    topLogprobs: body.top_logprobs ?? undefined,
  }
}
