import type { JsonObject } from '../../core/events.ts'
import { fieldsOf, isObject, restOf } from '../../core/json.ts'
import { type NativeUsage, NO_USAGE, type Usage } from '../../core/usage.ts'
import { remainder, tokenCount } from '../usage.ts'

/** xAI tells what it charged in ticks of 10⁻¹⁰ USD (its documentation, 2026). */
const TICKS_PER_USD = 10_000_000_000

/**
 * The `usage` of a response in disjoint buckets: `input_tokens` includes cached ones, `output_tokens` reasoning.
 * Undefined where it counts nothing; a 0 that was told is a 0. `searches` is how often the answer searched, for
 * providers that do not count it.
 */
export function readUsage(response: JsonObject, searches: number): Usage | undefined {
  const raw = response['usage']
  if (!isObject(raw)) return undefined
  const input = tokenCount(raw['input_tokens'])
  const output = tokenCount(raw['output_tokens'])
  if (input === undefined && output === undefined) return undefined
  const webSearchRequests = searchesOf(raw, response) ?? (searches > 0 ? searches : undefined)
  const cost = costOf(raw)
  return {
    ...NO_USAGE,
    ...splitInput(input ?? 0, fieldsOf(raw['input_tokens_details'])),
    ...splitOutput(output ?? 0, tokenCount(raw['total_tokens']), input ?? 0, raw),
    ...(webSearchRequests === undefined ? {} : { webSearchRequests }),
    ...(cost === undefined ? {} : { providerCostUsd: cost }),
    ...nativeOf(raw),
  }
}

/** Each bucket takes at most what the former ones left. */
function splitInput(all: number, details: JsonObject) {
  const left = remainder(all)
  const cacheReadTokens = left.take(tokenCount(details['cached_tokens']))
  const cacheWriteTokens = left.take(tokenCount(details['cache_write_tokens']))
  const audioInputTokens = left.take(tokenCount(details['audio_tokens']))
  const imageInputTokens = left.take(tokenCount(details['image_tokens']))
  return { cacheReadTokens, cacheWriteTokens, audioInputTokens, imageInputTokens, inputTokens: left.rest() }
}

/** Where the total shows that reasoning stands beside the output (xAI's chat does so), it is added. */
function splitOutput(told: number, total: number | undefined, input: number, raw: JsonObject) {
  const details = fieldsOf(raw['output_tokens_details'])
  const reasoning = tokenCount(details['reasoning_tokens']) ?? 0
  const isApart = reasoning > 0 && total === input + told + reasoning
  const left = remainder(isApart ? told + reasoning : told)
  const reasoningTokens = left.take(reasoning)
  const audioOutputTokens = left.take(tokenCount(details['audio_tokens']))
  const imageOutputTokens = left.take(tokenCount(details['image_tokens']))
  return { reasoningTokens, audioOutputTokens, imageOutputTokens, outputTokens: left.rest() }
}

/** OpenRouter's, xAI's and OpenAI's places for it. */
function searchesOf(raw: JsonObject, response: JsonObject): number | undefined {
  const openRouter = fieldsOf(raw['server_tool_use_details'])
  const xai = fieldsOf(raw['server_side_tool_usage_details'])
  const openai = fieldsOf(fieldsOf(response['tool_usage'])['web_search'])
  return (
    tokenCount(openRouter['web_search_requests']) ??
    tokenCount(xai['web_search_calls']) ??
    tokenCount(openai['num_requests'])
  )
}

function costOf(raw: JsonObject): number | undefined {
  const { cost, cost_in_usd_ticks: ticks } = raw
  if (typeof cost === 'number' && Number.isFinite(cost) && cost >= 0) return cost
  return typeof ticks === 'number' && Number.isFinite(ticks) && ticks >= 0 ? ticks / TICKS_PER_USD : undefined
}

/** What we read, or say ourselves. */
const OURS = new Set([
  'input_tokens',
  'input_tokens_details',
  'output_tokens',
  'output_tokens_details',
  'total_tokens',
  'cost',
  'cost_details',
  'is_byok',
  'server_tool_use_details',
])

function nativeOf(raw: JsonObject): { native?: NativeUsage } {
  const fields = restOf(raw, OURS)
  return fields === undefined ? {} : { native: { dialect: 'responses', fields } }
}
