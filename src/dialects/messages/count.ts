import type { Attempt } from '../../core/attempt.ts'
import { isObject } from '../../core/json.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { DialectCall } from '../dialect.ts'
import { buildMessages } from './build.ts'

/** What says how to answer, which the API does not take where nothing is answered. */
const ANSWER_FIELDS = new Set([
  'max_tokens',
  'stream',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'metadata',
  'service_tier',
  'container',
])

/** The call that counts the tokens of a prompt. */
export function buildCount(request: InferenceRequest, attempt: Attempt): DialectCall {
  const { headers, body, dropped } = buildMessages({ ...request, stream: false }, attempt)
  const prompt = Object.fromEntries(Object.entries(body).filter(([name]) => !ANSWER_FIELDS.has(name)))
  return { path: '/messages/count_tokens', headers, body: prompt, dropped }
}

export function readCount(body: unknown): number | null {
  const count = isObject(body) ? body.input_tokens : undefined
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 ? count : null
}
