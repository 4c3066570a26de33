import { isObject } from '../../core/json.ts'
import { CONTEXT_TTL_SECONDS } from '../../core/pricing.ts'
import { outputOf } from './capabilities.ts'
import type { FactModel } from './document.ts'

type Cost = Readonly<Record<string, unknown>>

/** USD for a million tokens and an hour, as Google lists the storage of context caches (2026). */
const STORAGE_AN_HOUR = { pro: 4.5, flash: 1 }
const SHARE_OF_AN_HOUR = CONTEXT_TTL_SECONDS / 3_600

/**
 * What a model of Google's costs, with the price of writing a context cache: each token is charged as input when it is
 * written, and for its storage as long as the cache lives. The metadata has it for few models; that value takes precedence.
 */
export function withContextCache(model: FactModel): Cost | null {
  const { cost } = model
  const family = /^gemini-.*\b(pro|flash)\b/.exec(model.id)?.[1]
  if (cost === null || (family !== 'pro' && family !== 'flash')) return cost
  // Models without cached reads, and image and speech models, have no context cache.
  if (cost['cache_read'] === undefined || String(outputOf(model)) !== 'text') return cost
  const written = (prices: Cost): Cost => {
    const { input, cache_write } = prices
    return typeof input !== 'number' || cache_write !== undefined
      ? prices
      : { ...prices, cache_write: input + STORAGE_AN_HOUR[family] * SHARE_OF_AN_HOUR }
  }
  const { tiers, context_over_200k: over } = cost
  return {
    ...written(cost),
    ...(Array.isArray(tiers) ? { tiers: tiers.map((row) => (isObject(row) ? written(row) : row)) } : {}),
    ...(isObject(over) ? { context_over_200k: written(over) } : {}),
  }
}
