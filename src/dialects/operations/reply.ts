import { UpstreamError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { fieldsOf, isObject } from '../../core/json.ts'
import type { UpstreamReply } from '../../core/reply.ts'
import { NO_USAGE, type Usage } from '../../core/usage.ts'
import { errorInReply, isErrorBody } from '../read-error.ts'
import { orMalformed, parseReply } from '../reply-decoder.ts'
import { reportedCost, tokenCount } from '../usage.ts'

/** A batch of long vectors, or ten large images in base64. */
const LIMIT_BYTES = 192 * 1024 * 1024

/** The JSON of a 2xx reply. Throws `UpstreamError`: `malformed`, or the error that the body holds. */
export async function readJson(reply: UpstreamReply): Promise<unknown> {
  const text = await reply.text(LIMIT_BYTES)
  const body = orMalformed(parseReply(text, reply.status), reply.status)
  if (isErrorBody(body) && !hasAnswer(body)) throw errorInReply(body, reply.status)
  return body
}

export async function readJsonObject(reply: UpstreamReply): Promise<JsonObject> {
  const body = await readJson(reply)
  if (!isObject(body)) throw malformed('the reply is not a JSON object')
  return body
}

/** Some servers send `message: "ok"` beside the answer. */
const ANSWERS = ['data', 'results', 'embeddings', 'predictions', 'candidates', 'text', 'images']
const hasAnswer = (body: unknown): boolean =>
  isObject(body) && !('error' in body) && ANSWERS.some((name) => body[name] !== undefined)

/** An unusable answer; another endpoint may be tried. */
export const malformed = (reason: string): UpstreamError =>
  new UpstreamError('malformed', reason, { status: 200 })

/** No request has more: a larger figure is a mistake and counts as not reported. */
const MOST = 1_000_000_000

export const countOf = (value: unknown): number | undefined => {
  const count = tokenCount(value)
  return count !== undefined && count <= MOST ? count : undefined
}

/**
 * The `usage` of replies without output tokens: `prompt_tokens` (only `total_tokens` at Voyage and Jina) with its
 * details. Null if it counts nothing.
 */
export function readInputUsage(raw: unknown): Usage | null {
  if (!isObject(raw)) return null
  const prompt = countOf(raw['prompt_tokens']) ?? countOf(raw['input_tokens']) ?? countOf(raw['total_tokens'])
  if (prompt === undefined) return null
  const details = fieldsOf(raw['prompt_tokens_details'])
  const images = Math.min(prompt, countOf(details['image_tokens']) ?? countOf(raw['image_tokens']) ?? 0)
  const audio = Math.min(prompt - images, countOf(details['audio_tokens']) ?? 0)
  return {
    ...NO_USAGE,
    inputTokens: prompt - images - audio,
    imageInputTokens: images,
    audioInputTokens: audio,
    ...costOf(raw),
  }
}

/** The charge that the provider, or a gateway in front of it, reports. */
export function costOf(raw: JsonObject): Pick<Usage, 'providerCostUsd'> {
  const cost = reportedCost(raw)
  return cost !== undefined && cost <= MOST ? { providerCostUsd: cost } : {}
}
