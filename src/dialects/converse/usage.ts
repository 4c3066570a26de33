import type { JsonObject } from '../../core/events.ts'
import { asText, fieldsOf, isObject, objectsIn, restOf } from '../../core/json.ts'
import { NO_USAGE, type Usage } from '../../core/usage.ts'
import { tokenCount } from '../usage.ts'

/** The second name of each is an older one that is sent beside it (recorded 2025). */
const READ_NAMES = ['cacheReadInputTokens', 'cacheReadInputTokenCount']
const WRITE_NAMES = ['cacheWriteInputTokens', 'cacheWriteInputTokenCount']
const KNOWN = new Set(['inputTokens', 'outputTokens', 'totalTokens', ...READ_NAMES, ...WRITE_NAMES])

/**
 * `inputTokens` excludes what was read from or written to a cache (recorded 2025: `totalTokens` is the sum of all
 * four). `outputTokens` includes reasoning, which Converse does not count apart.
 */
export function readUsage(raw: unknown): Usage | undefined {
  if (!isObject(raw)) return undefined
  const input = tokenCount(raw['inputTokens'])
  const output = tokenCount(raw['outputTokens'])
  if (input === undefined && output === undefined) return undefined
  const fields = restOf(raw, KNOWN)
  return {
    ...NO_USAGE,
    inputTokens: input ?? 0,
    cacheReadTokens: firstCount(raw, READ_NAMES),
    ...cacheWritesOf(raw),
    outputTokens: output ?? 0,
    ...(fields === undefined ? {} : { native: { dialect: 'converse', fields } }),
  }
}

/** `cacheDetails` splits the writes by lifetime: `[{ttl: '1h', inputTokens}, {ttl: '5m', …}]`. */
function cacheWritesOf(raw: JsonObject): Pick<Usage, 'cacheWriteTokens' | 'cacheWriteHourTokens'> {
  const cacheWriteTokens = firstCount(raw, WRITE_NAMES)
  const hours = objectsIn(raw['cacheDetails']).filter(({ ttl }) => ttl === '1h')
  const reported = hours.reduce((sum, { inputTokens }) => sum + (tokenCount(inputTokens) ?? 0), 0)
  const cacheWriteHourTokens = Math.min(reported, cacheWriteTokens)
  return cacheWriteHourTokens === 0 ? { cacheWriteTokens } : { cacheWriteTokens, cacheWriteHourTokens }
}

const firstCount = (raw: JsonObject, names: readonly string[]): number =>
  names.map((name) => tokenCount(raw[name])).find((each) => each !== undefined) ?? 0

/** `serviceTier: {type}`, in OpenAI's words. */
export const readServiceTier = ({ serviceTier }: JsonObject): string | null =>
  asText(fieldsOf(serviceTier)['type']) ?? null
