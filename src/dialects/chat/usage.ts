import type { JsonObject } from '../../core/events.ts'
import { type NativeUsage, NO_USAGE, type Usage } from '../../core/usage.ts'
import { defined, isObject, restOf } from '../values.ts'

/**
 * Reads the `usage` object of a chat completion into disjoint buckets, in tokens. Undefined where it counts
 * nothing; a 0 that was told is a 0.
 *
 * `promptTokens(usage)` is upstream's `prompt_tokens` and `completionTokens(usage)` its `completion_tokens`,
 * details inclusive, but for the providers whose own total shows that they count otherwise (see `apart`).
 */
export function readUsage(raw: unknown): Usage | undefined {
  if (!isObject(raw)) return undefined
  const prompt = count(raw['prompt_tokens']) ?? count(raw['input_tokens'])
  const completion = count(raw['completion_tokens']) ?? count(raw['output_tokens'])
  const total = count(raw['total_tokens'])
  if (prompt === undefined && completion === undefined && total === undefined) return undefined
  const details = detailsOf(raw)
  const extra = apart(prompt ?? 0, completion ?? 0, total, details)
  return {
    ...NO_USAGE,
    ...splitInput((prompt ?? 0) + extra.input, details),
    ...splitOutput((completion ?? 0) + extra.output, {
      ...details,
      reasoning: details.reasoning + extra.hidden,
    }),
    ...optional(raw, details),
    ...nativeOf(raw, details),
  }
}

/** What we read, or say ourselves. */
const OURS = new Set([
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'input_tokens',
  'output_tokens',
  'prompt_tokens_details',
  'completion_tokens_details',
  'cost',
  'cost_details',
  'is_byok',
  'server_tool_use_details',
])

const OUR_PROMPT = new Set(['cached_tokens', 'cache_write_tokens', 'audio_tokens', 'image_tokens'])
const OUR_COMPLETION = new Set([
  'reasoning_tokens',
  'audio_tokens',
  'image_tokens',
  'accepted_prediction_tokens',
  'rejected_prediction_tokens',
])

/**
 * Groq's `queue_time`, DeepSeek's `prompt_cache_hit_tokens` and whatever else stands beside the counts, and within
 * their details: OpenRouter's `video_tokens`, xAI's `text_tokens`.
 */
function nativeOf(raw: JsonObject, { prompt, completion }: Details): { native?: NativeUsage } {
  const fields = defined({
    ...restOf(raw, OURS),
    prompt_tokens_details: countsBeside(prompt, OUR_PROMPT),
    completion_tokens_details: countsBeside(completion, OUR_COMPLETION),
  })
  return Object.keys(fields).length === 0 ? {} : { native: { dialect: 'chat', fields } }
}

/** Without nulls: clients parse what stands there as whole numbers. */
function countsBeside(details: JsonObject, ours: ReadonlySet<string>): JsonObject | undefined {
  const told = Object.entries(details).filter(([name, value]) => !ours.has(name) && value !== null)
  return told.length === 0 ? undefined : Object.fromEntries(told)
}

interface Details {
  prompt: JsonObject
  completion: JsonObject
  cacheRead: number
  cacheWrite: number
  reasoning: number
}

function detailsOf(raw: JsonObject): Details {
  const prompt = objectOf(raw['prompt_tokens_details'])
  const completion = objectOf(raw['completion_tokens_details'])
  return {
    prompt,
    completion,
    cacheRead:
      count(prompt['cached_tokens']) ??
      // DeepSeek, Moonshot, Anthropic-shaped gateways.
      count(raw['prompt_cache_hit_tokens']) ??
      count(raw['cached_tokens']) ??
      count(raw['cache_read_input_tokens']) ??
      0,
    cacheWrite:
      count(prompt['cache_write_tokens']) ??
      count(prompt['cache_creation_tokens']) ??
      count(raw['cache_creation_input_tokens']) ??
      0,
    reasoning: count(completion['reasoning_tokens']) ?? count(raw['reasoning_tokens']) ?? 0,
  }
}

/**
 * Tokens that upstream's total counts and its two sums do not:
 * - xAI: `completion_tokens` excludes reasoning (12 + 2 + 340 = 354, recorded 2026)
 * - Gemini's compatible API: thoughts stand in the total alone (35 + 12, total 109, recorded 2025): `hidden`
 * - gateways to Anthropic: `prompt_tokens` excludes what was read from or written to a cache
 * More reasoning than completion without a total cannot be inclusive either.
 */
function apart(prompt: number, completion: number, total: number | undefined, details: Details) {
  const { cacheRead, cacheWrite, reasoning } = details
  const none = { input: 0, output: 0, hidden: 0 }
  if (total === undefined) return reasoning > completion ? { ...none, output: reasoning } : none
  const missing = total - prompt - completion
  if (missing <= 0) return none
  if (missing === reasoning) return { ...none, output: missing }
  if (missing === cacheRead + cacheWrite) return { ...none, input: missing }
  if (missing === reasoning + cacheRead + cacheWrite) {
    return { ...none, input: cacheRead + cacheWrite, output: reasoning }
  }
  return reasoning === 0 ? { ...none, output: missing, hidden: missing } : none
}

/** Each bucket takes at most what the former ones left: some providers report more cached than prompt tokens. */
function splitInput(all: number, { prompt, cacheRead, cacheWrite }: Details) {
  const left = remainder(all)
  const cacheReadTokens = left.take(cacheRead)
  const cacheWriteTokens = left.take(cacheWrite)
  const audioInputTokens = left.take(count(prompt['audio_tokens']) ?? 0)
  const imageInputTokens = left.take(count(prompt['image_tokens']) ?? 0)
  return { cacheReadTokens, cacheWriteTokens, audioInputTokens, imageInputTokens, inputTokens: left.rest() }
}

function splitOutput(all: number, { completion, reasoning }: Details) {
  const left = remainder(all)
  const reasoningTokens = left.take(reasoning)
  const audioOutputTokens = left.take(count(completion['audio_tokens']) ?? 0)
  const imageOutputTokens = left.take(count(completion['image_tokens']) ?? 0)
  return { reasoningTokens, audioOutputTokens, imageOutputTokens, outputTokens: left.rest() }
}

function optional(raw: JsonObject, { completion }: Details): Partial<Usage> {
  const found: Partial<Usage> = {}
  const accepted = count(completion['accepted_prediction_tokens'])
  const rejected = count(completion['rejected_prediction_tokens'])
  const searches =
    count(objectOf(raw['server_tool_use_details'])['web_search_requests']) ??
    count(objectOf(raw['server_tool_use'])['web_search_requests']) ??
    count(raw['num_search_queries'])
  const cost = costOf(raw['cost'])
  if (accepted !== undefined) found.acceptedPredictionTokens = accepted
  if (rejected !== undefined) found.rejectedPredictionTokens = rejected
  if (searches !== undefined) found.webSearchRequests = searches
  if (cost !== undefined) found.providerCostUsd = cost
  return found
}

/** OpenRouter tells a number of USD, Perplexity an object of them. */
const costOf = (cost: unknown): number | undefined => {
  const value = isObject(cost) ? cost['total_cost'] : cost
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

/** A whole number of tokens; anything else was not told. */
const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0
    ? Math.min(Math.round(value), Number.MAX_SAFE_INTEGER)
    : undefined

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})

function remainder(all: number) {
  let left = all
  return {
    take(wanted: number): number {
      const taken = Math.min(wanted, left)
      left -= taken
      return taken
    },
    rest: () => left,
  }
}
