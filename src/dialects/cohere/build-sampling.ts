import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import type { InferenceRequest, Sampling } from '../../core/request.ts'
import type { LeaveOut } from './names.ts'

interface Tuning {
  readonly key: keyof Sampling
  /** The API's name. */
  readonly name: string
  /** Cohere's; null: it has none. */
  readonly field: string | null
  /** What Cohere takes, inclusive: a value beyond is brought inside, and named. */
  readonly range?: readonly [least: number, most: number]
}

const TUNING: readonly Tuning[] = [
  { key: 'temperature', name: 'temperature', field: 'temperature' },
  { key: 'topP', name: 'top_p', field: 'p', range: [0.01, 0.99] },
  { key: 'topK', name: 'top_k', field: 'k', range: [0, 500] },
  { key: 'seed', name: 'seed', field: 'seed', range: [0, Number.MAX_SAFE_INTEGER] },
  { key: 'frequencyPenalty', name: 'frequency_penalty', field: 'frequency_penalty', range: [0, 1] },
  { key: 'presencePenalty', name: 'presence_penalty', field: 'presence_penalty', range: [0, 1] },
  { key: 'topA', name: 'top_a', field: null },
  { key: 'minP', name: 'min_p', field: null },
  { key: 'repetitionPenalty', name: 'repetition_penalty', field: null },
]
const MOST_STOPS = 5

/** Parameters that tune the answer; those that the endpoint is known not to take are left out and named. */
export function writeSampling(
  { sampling }: InferenceRequest,
  { endpoint }: Attempt,
  leaveOut: LeaveOut,
): JsonObject {
  const known = endpoint.supportedParameters
  const takes = (name: string): boolean => {
    if (known === null || known.includes(name)) return true
    leaveOut(name)
    return false
  }
  const body: JsonObject = {}
  for (const { key, name, field, range } of TUNING) {
    const value = sampling[key]
    if (typeof value !== 'number') continue
    if (field === null) leaveOut(name)
    else if (takes(name)) {
      const [least, most] = range ?? [value, value]
      const written = Math.min(Math.max(value, least), most)
      if (written !== value) leaveOut(name)
      body[field] = written
    }
  }
  const { stop, logprobs, topLogprobs, logitBias } = sampling
  if (stop !== undefined && stop.length > 0 && takes('stop')) {
    if (stop.length > MOST_STOPS) leaveOut('stop')
    body['stop_sequences'] = stop.slice(0, MOST_STOPS)
  }
  if (logprobs === true && takes('logprobs')) body['logprobs'] = true
  if (topLogprobs !== undefined && topLogprobs > 0) leaveOut('top_logprobs')
  if (logitBias !== undefined && Object.keys(logitBias).length > 0) leaveOut('logit_bias')
  return body
}
