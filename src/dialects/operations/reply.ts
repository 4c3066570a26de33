import { UpstreamError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import { usdOf } from '../../core/money.ts'
import type { UpstreamReply } from '../../core/reply.ts'
import type { Closing, RoutingMetadata } from '../../core/result.ts'
import { NO_USAGE, type Usage } from '../../core/usage.ts'
import { errorInReply, isErrorBody } from '../read-error.ts'
import { parseReply } from '../reply-decoder.ts'

/** A batch of long vectors, or ten large images in base64. */
const LIMIT_BYTES = 192 * 1024 * 1024

/** The JSON of a 2xx reply. Throws `UpstreamError`: `malformed`, or what an error object in it says. */
export async function readJson(reply: UpstreamReply): Promise<unknown> {
  const text = await reply.text(LIMIT_BYTES)
  const body = parse(text, reply.status)
  if (isErrorBody(body) && !hasAnswer(body)) throw errorInReply(body, reply.status)
  return body
}

export async function readJsonObject(reply: UpstreamReply): Promise<JsonObject> {
  const body = await readJson(reply)
  if (!isObject(body)) throw malformed('the reply is no JSON object')
  return body
}

/** Some servers say `message: "ok"` beside what was asked for. */
const ANSWERS = ['data', 'results', 'embeddings', 'predictions', 'candidates', 'text', 'images']
const hasAnswer = (body: unknown): boolean =>
  isObject(body) && !('error' in body) && ANSWERS.some((name) => body[name] !== undefined)

function parse(text: string, status: number): unknown {
  const value = parseReply(text, status)
  if (value === undefined) throw new UpstreamError('malformed', 'the reply is not JSON', { status })
  return value
}

/** An answer that is none; another endpoint may give one. */
export const malformed = (reason: string): UpstreamError =>
  new UpstreamError('malformed', reason, { status: 200 })

/** More than any request has: a figure beyond it is a mistake, and counts as not told. */
const MOST = 1_000_000_000

/** A count as a provider writes it; undefined for what is none. */
export const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= MOST ? Math.round(value) : undefined

/**
 * The `usage` of replies that have only an input: `prompt_tokens` (`total_tokens` alone at Voyage and Jina) with the
 * details of what they were. Null where it counts nothing.
 */
export function readInputUsage(raw: unknown): Usage | null {
  if (!isObject(raw)) return null
  const prompt = countOf(raw['prompt_tokens']) ?? countOf(raw['input_tokens']) ?? countOf(raw['total_tokens'])
  if (prompt === undefined) return null
  const details = isObject(raw['prompt_tokens_details']) ? raw['prompt_tokens_details'] : {}
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

/** What a gateway in front of the provider says that it charged. */
export const costOf = (raw: JsonObject): Pick<Usage, 'providerCostUsd'> =>
  typeof raw['cost'] === 'number' && raw['cost'] >= 0 && raw['cost'] <= MOST
    ? { providerCostUsd: raw['cost'] }
    : {}

/** USD with at most 9 decimals, as every reply of this API tells it. */
export const viewCost = (closing: Closing): JsonObject => ({
  cost: usdOf(closing.costNanoUsd),
  is_byok: closing.isByok,
  cost_details: {
    upstream_inference_cost: closing.isByok
      ? usdOf(closing.promptCostNanoUsd + closing.completionCostNanoUsd)
      : null,
    upstream_inference_prompt_cost: usdOf(closing.promptCostNanoUsd),
    upstream_inference_completions_cost: usdOf(closing.completionCostNanoUsd),
  },
})

/** The routing metadata under both of its names; nothing when the caller did not ask. */
export const viewRouting = (metadata: RoutingMetadata | null): JsonObject =>
  metadata === null ? {} : { service_metadata: metadata, openrouter_metadata: metadata }
