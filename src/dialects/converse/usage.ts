import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import { NO_USAGE, type Usage } from '../../core/usage.ts'

/**
 * `inputTokens` excludes what was read from or written to a cache (recorded 2025: `totalTokens` is the sum of all
 * four). `outputTokens` includes reasoning, which is not told apart.
 */
export function readUsage(raw: unknown): Usage | undefined {
  if (!isObject(raw)) return undefined
  const input = count(raw['inputTokens'])
  const output = count(raw['outputTokens'])
  if (input === undefined && output === undefined) return undefined
  const known = ['inputTokens', 'outputTokens', 'totalTokens', ...READ_NAMES, ...WRITE_NAMES]
  const rest = Object.entries(raw).filter(([name]) => !known.includes(name))
  return {
    ...NO_USAGE,
    inputTokens: input ?? 0,
    cacheReadTokens: firstCount(raw, READ_NAMES),
    ...cacheWritesOf(raw),
    outputTokens: output ?? 0,
    ...(rest.length === 0 ? {} : { native: { dialect: 'converse', fields: Object.fromEntries(rest) } }),
  }
}

/** The second name of each is an older one that is sent beside it (recorded 2025). */
const READ_NAMES = ['cacheReadInputTokens', 'cacheReadInputTokenCount']
const WRITE_NAMES = ['cacheWriteInputTokens', 'cacheWriteInputTokenCount']

/** `cacheDetails` tells what was written by how long it is kept: `[{ttl: '1h', inputTokens}, {ttl: '5m', …}]`. */
function cacheWritesOf(raw: JsonObject): Pick<Usage, 'cacheWriteTokens' | 'cacheWriteHourTokens'> {
  const cacheWriteTokens = firstCount(raw, WRITE_NAMES)
  const details: unknown[] = Array.isArray(raw['cacheDetails']) ? raw['cacheDetails'] : []
  const hours = details.filter(isObject).filter(({ ttl }) => ttl === '1h')
  const told = hours.reduce((sum, { inputTokens }) => sum + (count(inputTokens) ?? 0), 0)
  const cacheWriteHourTokens = Math.min(told, cacheWriteTokens)
  return cacheWriteHourTokens === 0 ? { cacheWriteTokens } : { cacheWriteTokens, cacheWriteHourTokens }
}

const firstCount = (raw: JsonObject, names: readonly string[]): number =>
  names.map((name) => count(raw[name])).find((each) => each !== undefined) ?? 0

/** `serviceTier: {type}`; the words are OpenAI's. */
export const readServiceTier = ({ serviceTier }: JsonObject): string | null =>
  isObject(serviceTier) && isString(serviceTier['type']) ? serviceTier['type'] : null

/** A whole number of tokens; anything else was not told. */
const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0
    ? Math.min(Math.round(value), Number.MAX_SAFE_INTEGER)
    : undefined
