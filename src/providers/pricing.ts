import { type Price, parsePrice } from '../core/money.ts'
import type { ConfigProblem } from '../core/problem.ts'
import type { Pricing } from '../core/snapshot.ts'

/** The API's names of the price buckets that a `providers:` entry may set, and ours. USD per token or per unit. */
const BUCKETS = {
  prompt: 'prompt',
  completion: 'completion',
  request: 'request',
  image: 'image',
  image_token: 'imageInput',
  image_output: 'imageOutput',
  audio: 'audio',
  audio_output: 'audioOutput',
  input_cache_read: 'inputCacheRead',
  input_cache_write: 'inputCacheWrite',
  input_cache_write_1h: 'inputCacheWriteHour',
  internal_reasoning: 'internalReasoning',
  web_search: 'webSearch',
  audio_second: 'audioSecond',
  input_character: 'inputCharacter',
} as const satisfies Record<string, keyof Pricing>

type Bucket = keyof typeof BUCKETS
const isBucket = (name: string): name is Bucket => name in BUCKETS

/**
 * Reads prices as an operator wrote them. What is not priced is never silently free: without `completion` the prompt's
 * price holds for it, and without `prompt` there must be a price per request or per image.
 */
export function readPricing(
  written: Readonly<Record<string, string | undefined>>,
  path: string,
  problems: ConfigProblem[],
): Pricing | null {
  const prices: Partial<Record<(typeof BUCKETS)[Bucket], Price>> = {}
  for (const [name, text] of Object.entries(written)) {
    if (text === undefined || !isBucket(name)) continue
    try {
      prices[BUCKETS[name]] = parsePrice(text)
    } catch (error) {
      problems.push({
        path: `${path}.${name}`,
        message: error instanceof RangeError ? error.message : 'is not a price',
      })
    }
  }
  const { request, image, imageOutput, audioSecond, inputCharacter } = prices
  const isPerUnit = [request, image, imageOutput, audioSecond, inputCharacter].some(
    (price) => price !== undefined,
  )
  const prompt = prices.prompt ?? (isPerUnit ? 0n : undefined)
  if (prompt === undefined) {
    if (written['prompt'] === undefined) {
      problems.push({ path: `${path}.prompt`, message: 'is missing; write "0" for what costs nothing' })
    }
    return null
  }
  return { ...prices, prompt, completion: prices.completion ?? prompt, request: prices.request ?? 0n }
}
