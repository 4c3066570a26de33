import type { JsonObject } from '../../core/events.ts'
import { asText, fieldsOf, isObject, objectsIn, restOf } from '../../core/json.ts'
import type { Usage } from '../../core/usage.ts'
import { bucketsOf, countReader, tokenCount } from '../usage.ts'

/** The second name of each is older; the API sends both (recorded 2025). */
const READ_NAMES = ['cacheReadInputTokens', 'cacheReadInputTokenCount']
const WRITE_NAMES = ['cacheWriteInputTokens', 'cacheWriteInputTokenCount']
const KNOWN = new Set(['inputTokens', 'outputTokens', 'totalTokens', ...READ_NAMES, ...WRITE_NAMES])

const countsOf = countReader([
  ['input', 'inputTokens'],
  ['output', 'outputTokens'],
  ['cacheRead', ...READ_NAMES],
  ['cacheWrite', ...WRITE_NAMES],
])

/**
 * `inputTokens` excludes what was read from or written to a cache (recorded 2025: `totalTokens` is the sum of all
 * four). `outputTokens` includes reasoning, which Converse does not count apart.
 */
export function readUsage(raw: unknown): Usage | undefined {
  if (!isObject(raw)) return undefined
  const counts = countsOf(raw)
  const { input, output, cacheRead = 0, cacheWrite = 0 } = counts
  if (input === undefined && output === undefined) return undefined
  counts.input = (input ?? 0) + cacheRead + cacheWrite
  counts.cacheWriteHour = cacheWritesOfAnHour(raw)
  const usage = bucketsOf(counts)
  const fields = restOf(raw, KNOWN)
  if (fields !== undefined) usage.native = { dialect: 'converse', fields }
  return usage
}

/** `cacheDetails` splits the writes by lifetime: `[{ttl: '1h', inputTokens}, {ttl: '5m', …}]`. */
const cacheWritesOfAnHour = ({ cacheDetails }: JsonObject): number =>
  objectsIn(cacheDetails)
    .filter(({ ttl }) => ttl === '1h')
    .reduce((sum, { inputTokens }) => sum + (tokenCount(inputTokens) ?? 0), 0)

/** `serviceTier: {type}`, in OpenAI's words. */
export const readServiceTier = ({ serviceTier }: JsonObject): string | null =>
  asText(fieldsOf(serviceTier)['type']) ?? null
