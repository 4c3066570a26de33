import type { JsonObject } from '../../core/events.ts'
import { defined, isObject, restOf } from '../../core/json.ts'
import type { Closing } from '../../core/result.ts'
import { completionTokens, promptTokens, type Usage } from '../../core/usage.ts'
import { words } from '../../core/words.ts'
import {
  bucketsOf,
  countReader,
  nativeFieldsOf,
  reportedCost,
  type TokenCounts,
  viewCost,
  viewToolUse,
} from '../usage.ts'

/**
 * Reads the `usage` object of a chat completion into disjoint buckets, in tokens. Undefined if it counts
 * nothing; a reported 0 is a 0.
 *
 * `promptTokens(usage)` is upstream's `prompt_tokens` and `completionTokens(usage)` its `completion_tokens`,
 * details inclusive, except for providers whose total shows that they count otherwise (see `addApart`).
 */
export function readUsage(raw: unknown): Usage | undefined {
  if (!isObject(raw)) return undefined
  const counts = countsOf(raw)
  const { input, output, total } = counts
  if (input === undefined && output === undefined && total === undefined) return undefined
  addApart(counts)
  const usage = bucketsOf(counts)
  const cost = reportedCost(raw)
  const fields = nativeOf(raw)
  if (cost !== undefined) usage.providerCostUsd = cost
  if (fields !== undefined) usage.native = { dialect: 'chat', fields }
  return usage
}

/** OpenAI's places first, then those of DeepSeek, Moonshot, Perplexity and gateways to Anthropic. */
const countsOf = countReader([
  ['input', 'prompt_tokens', 'input_tokens'],
  ['output', 'completion_tokens', 'output_tokens'],
  ['total', 'total_tokens'],
  [
    'cacheRead',
    'prompt_tokens_details.cached_tokens',
    'prompt_cache_hit_tokens',
    'cached_tokens',
    'cache_read_input_tokens',
  ],
  [
    'cacheWrite',
    'prompt_tokens_details.cache_write_tokens',
    'prompt_tokens_details.cache_creation_tokens',
    'cache_creation_input_tokens',
  ],
  ['audioInput', 'prompt_tokens_details.audio_tokens'],
  ['imageInput', 'prompt_tokens_details.image_tokens'],
  ['reasoning', 'completion_tokens_details.reasoning_tokens', 'reasoning_tokens'],
  ['audioOutput', 'completion_tokens_details.audio_tokens'],
  ['imageOutput', 'completion_tokens_details.image_tokens'],
  ['acceptedPrediction', 'completion_tokens_details.accepted_prediction_tokens'],
  ['rejectedPrediction', 'completion_tokens_details.rejected_prediction_tokens'],
  [
    'webSearches',
    'server_tool_use_details.web_search_requests',
    'server_tool_use.web_search_requests',
    'num_search_queries',
  ],
])

/** What we read, or say ourselves. */
const OURS = new Set(
  words(`
  prompt_tokens completion_tokens total_tokens input_tokens output_tokens prompt_tokens_details
  completion_tokens_details cost cost_details is_byok server_tool_use_details
`),
)

const OUR_PROMPT = new Set(['cached_tokens', 'cache_write_tokens', 'audio_tokens', 'image_tokens'])
const OUR_COMPLETION = new Set(
  words('reasoning_tokens audio_tokens image_tokens accepted_prediction_tokens rejected_prediction_tokens'),
)

/**
 * Groq's `queue_time`, DeepSeek's `prompt_cache_hit_tokens` and any other field beside the counts, and within
 * their details: OpenRouter's `video_tokens`, xAI's `text_tokens`.
 */
function nativeOf(raw: JsonObject): JsonObject | undefined {
  const prompt = countsBeside(raw['prompt_tokens_details'], OUR_PROMPT)
  const completion = countsBeside(raw['completion_tokens_details'], OUR_COMPLETION)
  const rest = restOf(raw, OURS)
  if (prompt === undefined && completion === undefined) return rest
  return defined({ ...rest, prompt_tokens_details: prompt, completion_tokens_details: completion })
}

/** Without nulls: clients parse these fields as integers. */
function countsBeside(details: unknown, ours: ReadonlySet<string>): JsonObject | undefined {
  const rest = isObject(details) ? restOf(details, ours) : undefined
  if (rest === undefined) return undefined
  const reported = Object.entries(rest).filter(([, value]) => value !== null)
  return reported.length === 0 ? undefined : Object.fromEntries(reported)
}

/**
 * Tokens that upstream's total counts and its two sums do not:
 * - xAI: `completion_tokens` excludes reasoning (12 + 2 + 340 = 354, recorded 2026)
 * - Gemini's compatible API: only the total includes thoughts (35 + 12, total 109, recorded 2025): `hidden`
 * - gateways to Anthropic: `prompt_tokens` excludes what was read from or written to a cache
 * - Mistral: `prompt_tokens` excludes audio (11 + 15 + 375 = 401, recorded 2026)
 * More reasoning than completion without a total cannot be inclusive either.
 */
function addApart(counts: TokenCounts): void {
  const {
    input = 0,
    output = 0,
    total,
    cacheRead = 0,
    cacheWrite = 0,
    audioInput = 0,
    reasoning = 0,
  } = counts
  if (total === undefined) {
    if (reasoning > output) counts.output = output + reasoning
    return
  }
  const cached = cacheRead + cacheWrite
  const missing = total - input - output
  if (missing <= 0) return
  if (missing === reasoning) counts.output = output + reasoning
  else if (missing === cached || missing === audioInput) counts.input = input + missing
  else if (missing === reasoning + cached) {
    counts.input = input + cached
    counts.output = output + reasoning
  } else if (reasoning === 0) {
    counts.output = output + missing
    counts.reasoning = missing
  }
}

/**
 * Usage as OpenAI counts it: prompt and completion tokens inclusive (cache reads and writes, reasoning), the parts
 * in the details; `cost` in USD with at most 9 decimals.
 */
export function viewUsage(closing: Closing): JsonObject {
  const { usage } = closing
  const prompt = promptTokens(usage)
  const completion = completionTokens(usage)
  const native = nativeFieldsOf(usage, 'chat')
  const view: JsonObject = native === undefined ? {} : withoutDetails(native)
  view.prompt_tokens = prompt
  view.completion_tokens = completion
  view.total_tokens = prompt + completion
  view.prompt_tokens_details = viewPrompt(usage, native?.prompt_tokens_details)
  view.completion_tokens_details = viewCompletion(usage, native?.completion_tokens_details)
  Object.assign(view, viewCost(closing))
  const tools = viewToolUse(closing)
  if (tools !== undefined) view.server_tool_use_details = tools
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
