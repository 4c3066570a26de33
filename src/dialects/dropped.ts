import type { InferenceRequest } from '../core/request.ts'

/** Fewer names are searched where they stand: most requests drop none or two. */
const FEW = 16
const LONGEST_NAME = 100

const known = new WeakMap<string[], Set<string>>()

/**
 * Adds a name to the parameters that cannot be carried, once and cut to 100 characters. Names may hold words of the
 * caller (`content.<type>`), so there can be as many as the request has parts: adding one never searches them all.
 */
export function dropInto(dropped: string[], told: string): void {
  const name = told.slice(0, LONGEST_NAME)
  if (dropped.length < FEW) {
    if (!dropped.includes(name)) dropped.push(name)
    return
  }
  const names = known.get(dropped) ?? new Set(dropped)
  known.set(dropped, names)
  if (names.has(name)) return
  names.add(name)
  dropped.push(name)
}

/** Names, once, what the request cannot carry. */
export type Drop = (name: string) => void

export const dropsInto =
  (dropped: string[]): Drop =>
  (name) =>
    dropInto(dropped, name)

/** Nothing, in place of what has no word in this dialect; its name is dropped. */
export function leaveOut(name: string, drop: Drop): [] {
  drop(name)
  return []
}

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
  drop: Drop,
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
