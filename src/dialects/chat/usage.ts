import type { JsonObject } from '../../core/events.ts'
import { defined, isObject, restOf } from '../../core/json.ts'
import type { Closing } from '../../core/result.ts'
import { completionTokens, promptTokens, type Usage } from '../../core/usage.ts'
import { tokenCount, viewCost } from '../usage.ts'

/**
 * Reads the `usage` object of a chat completion into disjoint buckets, in tokens. Undefined where it counts
 * nothing; a 0 that was told is a 0.
 *
 * `promptTokens(usage)` is upstream's `prompt_tokens` and `completionTokens(usage)` its `completion_tokens`,
 * details inclusive, but for the providers whose own total shows that they count otherwise (see `apart`).
 */
export function readUsage(raw: unknown): Usage | undefined {
  if (!isObject(raw)) return undefined
  const prompt = tokenCount(raw['prompt_tokens']) ?? tokenCount(raw['input_tokens'])
  const completion = tokenCount(raw['completion_tokens']) ?? tokenCount(raw['output_tokens'])
  const total = tokenCount(raw['total_tokens'])
  if (prompt === undefined && completion === undefined && total === undefined) return undefined
  const details = detailsOf(raw)
  const extra = apart(prompt ?? 0, completion ?? 0, total, details)
  const input = splitInput((prompt ?? 0) + extra.input, details)
  const reasoning = details.reasoning + extra.hidden
  const output = splitOutput((completion ?? 0) + extra.output, reasoning, details.completion)
  const usage: Usage = {
    inputTokens: input.inputTokens,
    cacheReadTokens: input.cacheReadTokens,
    cacheWriteTokens: input.cacheWriteTokens,
    audioInputTokens: input.audioInputTokens,
    imageInputTokens: input.imageInputTokens,
    outputTokens: output.outputTokens,
    reasoningTokens: output.reasoningTokens,
    audioOutputTokens: output.audioOutputTokens,
    imageOutputTokens: output.imageOutputTokens,
  }
  addOptional(usage, raw, details)
  const fields = nativeOf(raw, details)
  if (fields !== undefined) usage.native = { dialect: 'chat', fields }
  return usage
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
function nativeOf(raw: JsonObject, details: Details): JsonObject | undefined {
  const prompt = countsBeside(details.prompt, OUR_PROMPT)
  const completion = countsBeside(details.completion, OUR_COMPLETION)
  const rest = restOf(raw, OURS)
  if (prompt === undefined && completion === undefined) return rest
  return defined({ ...rest, prompt_tokens_details: prompt, completion_tokens_details: completion })
}

/** Without nulls: clients parse what stands there as whole numbers. */
function countsBeside(details: JsonObject, ours: ReadonlySet<string>): JsonObject | undefined {
  const rest = restOf(details, ours)
  if (rest === undefined) return undefined
  const told = Object.entries(rest).filter(([, value]) => value !== null)
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
      tokenCount(prompt['cached_tokens']) ??
      // DeepSeek, Moonshot, Anthropic-shaped gateways.
      tokenCount(raw['prompt_cache_hit_tokens']) ??
      tokenCount(raw['cached_tokens']) ??
      tokenCount(raw['cache_read_input_tokens']) ??
      0,
    cacheWrite:
      tokenCount(prompt['cache_write_tokens']) ??
      tokenCount(prompt['cache_creation_tokens']) ??
      tokenCount(raw['cache_creation_input_tokens']) ??
      0,
    reasoning: tokenCount(completion['reasoning_tokens']) ?? tokenCount(raw['reasoning_tokens']) ?? 0,
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
  let left = all
  const cacheReadTokens = Math.min(cacheRead, left)
  left -= cacheReadTokens
  const cacheWriteTokens = Math.min(cacheWrite, left)
  left -= cacheWriteTokens
  const audioInputTokens = Math.min(tokenCount(prompt['audio_tokens']) ?? 0, left)
  left -= audioInputTokens
  const imageInputTokens = Math.min(tokenCount(prompt['image_tokens']) ?? 0, left)
  const inputTokens = left - imageInputTokens
  return { cacheReadTokens, cacheWriteTokens, audioInputTokens, imageInputTokens, inputTokens }
}

function splitOutput(all: number, reasoning: number, completion: JsonObject) {
  let left = all
  const reasoningTokens = Math.min(reasoning, left)
  left -= reasoningTokens
  const audioOutputTokens = Math.min(tokenCount(completion['audio_tokens']) ?? 0, left)
  left -= audioOutputTokens
  const imageOutputTokens = Math.min(tokenCount(completion['image_tokens']) ?? 0, left)
  const outputTokens = left - imageOutputTokens
  return { reasoningTokens, audioOutputTokens, imageOutputTokens, outputTokens }
}

function addOptional(usage: Usage, raw: JsonObject, { completion }: Details): void {
  const accepted = tokenCount(completion['accepted_prediction_tokens'])
  const rejected = tokenCount(completion['rejected_prediction_tokens'])
  const searches =
    tokenCount(objectOf(raw['server_tool_use_details'])['web_search_requests']) ??
    tokenCount(objectOf(raw['server_tool_use'])['web_search_requests']) ??
    tokenCount(raw['num_search_queries'])
  const cost = costOf(raw['cost'])
  if (accepted !== undefined) usage.acceptedPredictionTokens = accepted
  if (rejected !== undefined) usage.rejectedPredictionTokens = rejected
  if (searches !== undefined) usage.webSearchRequests = searches
  if (cost !== undefined) usage.providerCostUsd = cost
}

/** OpenRouter tells a number of USD, Perplexity an object of them. */
const costOf = (cost: unknown): number | undefined => {
  const value = isObject(cost) ? cost['total_cost'] : cost
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

/** Never changed. */
const NOTHING: JsonObject = {}

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : NOTHING)

/**
 * Usage as OpenAI counts it: prompt and completion tokens inclusive (cache reads and writes, reasoning), the parts
 * in the details; `cost` in USD with at most 9 decimals.
 */
export function viewUsage(closing: Closing): JsonObject {
  const { usage } = closing
  const prompt = promptTokens(usage)
  const completion = completionTokens(usage)
  const native = nativeFieldsOf(usage)
  const view: JsonObject = native === undefined ? {} : withoutDetails(native)
  view.prompt_tokens = prompt
  view.completion_tokens = completion
  view.total_tokens = prompt + completion
  view.prompt_tokens_details = viewPrompt(usage, native?.prompt_tokens_details)
  view.completion_tokens_details = viewCompletion(usage, native?.completion_tokens_details)
  Object.assign(view, viewCost(closing))
  if (usage.webSearchRequests !== undefined)
    view.server_tool_use_details = { web_search_requests: usage.webSearchRequests }
  return view
}

function viewPrompt(usage: Usage, native: unknown): JsonObject {
  const view: JsonObject = isObject(native) ? { ...native } : {}
  view.cached_tokens = usage.cacheReadTokens
  view.cache_write_tokens = usage.cacheWriteTokens
  view.audio_tokens = usage.audioInputTokens
  if (usage.imageInputTokens) view.image_tokens = usage.imageInputTokens
  return view
}

function viewCompletion(usage: Usage, native: unknown): JsonObject {
  const view: JsonObject = isObject(native) ? { ...native } : {}
  const { acceptedPredictionTokens: accepted, rejectedPredictionTokens: rejected } = usage
  view.reasoning_tokens = usage.reasoningTokens
  view.audio_tokens = usage.audioOutputTokens
  if (usage.imageOutputTokens) view.image_tokens = usage.imageOutputTokens
  if (accepted !== undefined) view.accepted_prediction_tokens = accepted
  if (rejected !== undefined) view.rejected_prediction_tokens = rejected
  return view
}

function withoutDetails({
  prompt_tokens_details,
  completion_tokens_details,
  ...native
}: JsonObject): JsonObject {
  return native
}

const nativeFieldsOf = ({ native }: Usage): JsonObject | undefined =>
  native?.dialect === 'chat' ? native.fields : undefined
