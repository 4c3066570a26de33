import type { InferenceRequest } from '../core/request.ts'

/** Parameters of callers that the neutral request has no field for. */
const BODY_PARAMETERS = [
  'prediction',
  'verbosity',
  'web_search_options',
  'image_config',
  'audio',
  'prompt_cache_key',
  'prompt_cache_options',
]

/**
 * Names, by the API's names, the parameters that Claude's APIs have no word for. `carried`: those that this call
 * carries all the same.
 */
export function dropUncarried(
  { sampling, choiceCount, modalities, metadata, body }: InferenceRequest,
  carried: readonly string[],
  drop: (name: string) => void,
): void {
  const without: Readonly<Record<string, unknown>> = {
    min_p: sampling.minP,
    top_a: sampling.topA,
    frequency_penalty: sampling.frequencyPenalty,
    presence_penalty: sampling.presencePenalty,
    repetition_penalty: sampling.repetitionPenalty,
    seed: sampling.seed,
    logit_bias: sampling.logitBias,
    logprobs: sampling.logprobs,
    top_logprobs: sampling.topLogprobs,
    n: choiceCount === 1 ? undefined : choiceCount,
    modalities: modalities?.every((name) => name === 'text') ? undefined : modalities,
    metadata,
  }
  const names = [
    ...Object.keys(without).filter((name) => without[name] !== undefined),
    ...BODY_PARAMETERS.filter((name) => body[name] !== undefined && body[name] !== null),
  ]
  for (const name of names) if (!carried.includes(name)) drop(name)
}
