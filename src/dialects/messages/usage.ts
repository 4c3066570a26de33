import type { JsonObject } from '../../core/events.ts'
import { isString, objectsIn, restOf } from '../../core/json.ts'
import type { Closing } from '../../core/result.ts'
import { completionTokens, NO_USAGE, type Usage } from '../../core/usage.ts'
import { words } from '../../core/words.ts'
import { anthropicTier } from '../finish.ts'
import { bucketsOf, countReader, nativeFieldsOf, viewCost, viewToolUse } from '../usage.ts'

/**
 * The later figures over the earlier ones, field by field: `message_delta` repeats some of `message_start`'s, and
 * its counts are cumulative (recorded 2024-26: with server tools and fallbacks `input_tokens` changes too).
 */
export const mergeUsage = (former: JsonObject, later: JsonObject): JsonObject => ({
  ...former,
  ...Object.fromEntries(Object.entries(later).filter(([, value]) => value !== null)),
})

/** `input_tokens` excludes what was read from or written to a cache; `output_tokens` includes thinking. */
export function readUsage(raw: JsonObject): Usage | undefined {
  const usage = tokensOf(raw)
  if (usage === undefined) return undefined
  const passes = passesIn(raw['iterations'])
  if (passes.length > 0) usage.passes = passes
  const fields = restOf(raw, KNOWN)
  if (fields !== undefined) usage.native = { dialect: 'messages', fields }
  return usage
}

function tokensOf(raw: JsonObject): Usage | undefined {
  const counts = countsOf(raw)
  const { input, output, cacheRead = 0, cacheWrite = 0 } = counts
  if (input === undefined && output === undefined) return undefined
  counts.input = (input ?? 0) + cacheRead + cacheWrite
  return bucketsOf(counts)
}

/** Those that the counts of the reply exclude, although they are charged (Anthropic's compaction, recorded 2026). */
const APART = new Set<unknown>(['compaction', 'advisor_message'])
/** More than any reply takes. */
const MOST_PASSES = 100

/** An advisor is another model, whose prices are unknown here: it costs those of the model that asked it. */
const passesIn = (iterations: unknown): Usage[] =>
  objectsIn(iterations)
    .filter(({ type }) => APART.has(type))
    .slice(0, MOST_PASSES)
    .flatMap((each) => tokensOf(each) ?? [])

/** `message_delta` may report another `cache_creation_input_tokens` than `message_start`, without its parts. */
const countsOf = countReader([
  ['input', 'input_tokens'],
  ['output', 'output_tokens'],
  ['cacheRead', 'cache_read_input_tokens'],
  ['cacheWrite', 'cache_creation_input_tokens'],
  ['cacheWriteHour', 'cache_creation.ephemeral_1h_input_tokens'],
  ['reasoning', 'output_tokens_details.thinking_tokens'],
  ['webSearches', 'server_tool_use.web_search_requests'],
])

/** Fields that a writer of this dialect writes from the neutral figures. */
const KNOWN = new Set(
  words(`
  input_tokens output_tokens cache_read_input_tokens cache_creation_input_tokens output_tokens_details
  service_tier
`),
)

/** Anthropic's `standard` is OpenAI's `default`; other names are kept. */
export function readServiceTier(raw: JsonObject): string | null {
  const tier = raw['service_tier']
  if (!isString(tier)) return null
  return tier === 'standard' ? 'default' : tier
}

/**
 * Usage as Anthropic counts it: `input_tokens` without what was read from or written to a cache, `output_tokens`
 * with thinking. Anthropic's other fields are kept; null: no usage so far.
 */
export function viewTokens(reported: Usage | null, serviceTier: string | null): JsonObject {
  const usage = reported ?? NO_USAGE
  const native = nativeFieldsOf(usage, 'messages')
  const { cacheWriteTokens, cacheWriteHourTokens: hour = 0, webSearchRequests } = usage
  return {
    input_tokens: usage.inputTokens + usage.audioInputTokens + usage.imageInputTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    // A cache lives for five minutes unless the provider reports otherwise.
    cache_creation: { ephemeral_5m_input_tokens: cacheWriteTokens - hour, ephemeral_1h_input_tokens: hour },
    output_tokens: completionTokens(usage),
    output_tokens_details: { thinking_tokens: usage.reasoningTokens },
    server_tool_use:
      webSearchRequests === undefined
        ? null
        : { web_search_requests: webSearchRequests, web_fetch_requests: 0 },
    inference_geo: null,
    ...native,
    service_tier: anthropicTier(serviceTier),
  }
}

/** The final usage: tokens, and their cost in USD with at most 9 decimals. */
export const viewUsage = (closing: Closing): JsonObject => ({
  ...viewTokens(withSearches(closing), closing.serviceTier),
  ...viewCost(closing),
  ...(closing.serverTools && { server_tool_use_details: viewToolUse(closing) }),
})

/** Searches of the provider and of the gateway count together. */
function withSearches({ usage, serverTools }: Closing): Usage {
  const { searches = 0 } = serverTools ?? {}
  return searches === 0 ? usage : { ...usage, webSearchRequests: (usage.webSearchRequests ?? 0) + searches }
}
