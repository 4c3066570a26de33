import type { JsonObject } from '../../core/events.ts'
import { fieldsOf, isObject, restOf } from '../../core/json.ts'
import type { Usage } from '../../core/usage.ts'
import { words } from '../../core/words.ts'
import { bucketsOf, countReader, reportedCost, tokenCount } from '../usage.ts'

/**
 * The `usage` of a response in disjoint buckets: `input_tokens` includes cached ones, `output_tokens` reasoning.
 * Undefined if it counts nothing; a reported 0 is a 0. `searches` is how often the answer searched, for
 * providers that do not count it.
 */
export function readUsage(response: JsonObject, searches: number): Usage | undefined {
  const raw = response['usage']
  if (!isObject(raw)) return undefined
  const counts = countsOf(raw)
  const { input = 0, output = 0, total, reasoning = 0 } = counts
  if (counts.input === undefined && counts.output === undefined) return undefined
  // The total shows that reasoning is not part of the output: xAI's chat does so.
  if (total === input + output + reasoning) counts.output = output + reasoning
  counts.webSearches ??= requestsOf(response) ?? (searches > 0 ? searches : undefined)
  const usage = bucketsOf(counts)
  const cost = reportedCost(raw)
  const fields = restOf(raw, OURS)
  if (cost !== undefined) usage.providerCostUsd = cost
  if (fields !== undefined) usage.native = { dialect: 'responses', fields }
  return usage
}

const countsOf = countReader([
  ['input', 'input_tokens'],
  ['output', 'output_tokens'],
  ['total', 'total_tokens'],
  ['cacheRead', 'input_tokens_details.cached_tokens'],
  ['cacheWrite', 'input_tokens_details.cache_write_tokens'],
  ['audioInput', 'input_tokens_details.audio_tokens'],
  ['imageInput', 'input_tokens_details.image_tokens'],
  ['reasoning', 'output_tokens_details.reasoning_tokens'],
  ['audioOutput', 'output_tokens_details.audio_tokens'],
  ['imageOutput', 'output_tokens_details.image_tokens'],
  // OpenRouter's place, and xAI's.
  [
    'webSearches',
    'server_tool_use_details.web_search_requests',
    'server_side_tool_usage_details.web_search_calls',
  ],
])

/** OpenAI counts searches outside the usage. */
const requestsOf = ({ tool_usage }: JsonObject): number | undefined =>
  tokenCount(fieldsOf(fieldsOf(tool_usage)['web_search'])['num_requests'])

/** What we read, or say ourselves. */
const OURS = new Set(
  words(`
  input_tokens input_tokens_details output_tokens output_tokens_details total_tokens cost cost_details
  is_byok server_tool_use_details
`),
)
