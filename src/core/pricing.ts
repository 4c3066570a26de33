import { formatPrice, type Price, parsePrice } from './money.ts'

/**
 * Every price bucket, declared once: its field, and its name in the API, in the settings and in the packed catalogue.
 * Prices are USD per token unless a comment states otherwise. Schemas, readers and views follow from this table.
 */
const PRICE_BUCKETS = {
  prompt: 'prompt',
  completion: 'completion',
  /** Per image. */
  image: 'image',
  /** Per request. */
  request: 'request',
  /** Per token of an image in the prompt. */
  imageInput: 'image_token',
  imageOutput: 'image_output',
  audio: 'audio',
  audioOutput: 'audio_output',
  inputCacheRead: 'input_cache_read',
  inputCacheWrite: 'input_cache_write',
  /** For cache entries with a lifetime of an hour. */
  inputCacheWriteHour: 'input_cache_write_1h',
  internalReasoning: 'internal_reasoning',
  /** Per search. */
  webSearch: 'web_search',
  /** Per second of audio input. */
  audioSecond: 'audio_second',
  /** Per character that is spoken. */
  inputCharacter: 'input_character',
} as const

type Bucket = keyof typeof PRICE_BUCKETS
type PriceName = (typeof PRICE_BUCKETS)[Bucket]

const keysOf = <Key extends string>(object: Readonly<Record<Key, unknown>>): Key[] => {
  const keys: Key[] = []
  for (const key in object) keys.push(key)
  return keys
}
const BUCKETS = keysOf(PRICE_BUCKETS)

type Prices = Readonly<Partial<Record<Bucket, Price>>>
/** Plain decimals under the API's names. */
export type WrittenPrices = Readonly<Partial<Record<PriceName, string>>>

/** Exact prices. Undefined buckets fall back as docs/compatibility.md describes; `prompt` and `completion` are always known. */
export interface Pricing extends Prices {
  readonly prompt: Price
  readonly completion: Price
  readonly request: Price
  /** Higher prices for long prompts: the tier with the largest reached `minPromptTokens` applies to the complete request. */
  readonly tiers?: readonly PricingTier[]
  /** The complete prices of service tiers that cost more or less. */
  readonly serviceTiers?: Readonly<Partial<Record<ServiceTier, Pricing>>>
  /** The complete prices of hours of the day that cost more or less; the first that contains the time applies. */
  readonly hours?: readonly PricedHours[]
}

/** Service tiers that may have prices of their own. A provider's other tiers cost what its usual one does. */
export const SERVICE_TIERS = ['flex', 'priority', 'batch'] as const
export type ServiceTier = (typeof SERVICE_TIERS)[number]

/** The service tier of this name, of a request or of a reply; `fast` is OpenAI's other name of `priority`. */
export function serviceTierOf(name: string | null | undefined): ServiceTier | undefined {
  if (name === null || name === undefined) return undefined
  const known = name === 'fast' ? 'priority' : name
  return SERVICE_TIERS.find((tier) => tier === known)
}

export interface PricedHours {
  /** Minutes since midnight, UTC. `until` is excluded, and is the next day's if it is not after `from`. */
  readonly from: number
  readonly until: number
  readonly pricing: Pricing
}

/** The same prices, except those given. Prices of long prompts are those given, or the usual ones. */
export function repriced(pricing: Pricing, prices: Partial<Pricing>): Pricing {
  const { serviceTiers: _tiers, hours: _hours, ...usual } = pricing
  return { ...usual, ...prices }
}

const MINUTE_MS = 60_000
const DAY_MINUTES = 1_440

/** The prices that apply to a reply of this service tier that ends at `at` (milliseconds since 1970). */
export function pricingAt(pricing: Pricing, tier: ServiceTier | undefined, at: number): Pricing {
  const { serviceTiers, hours } = pricing
  const ofTier = tier === undefined ? undefined : serviceTiers?.[tier]
  if (ofTier !== undefined || hours === undefined) return ofTier ?? pricing
  const minute = Math.floor(at / MINUTE_MS) % DAY_MINUTES
  const current = hours.find(({ from, until }) =>
    from < until ? minute >= from && minute < until : minute >= from || minute < until,
  )
  return current?.pricing ?? pricing
}

/** `auto` leaves the choice to the provider; `unnamed`: the request names no tier; undefined: one without a price. */
export type RequestedTier = ServiceTier | 'auto' | 'default' | 'unnamed' | undefined

export function requestedTierOf(name: string | undefined): RequestedTier {
  if (name === undefined) return 'unnamed'
  return name === 'auto' || name === 'default' ? name : serviceTierOf(name)
}

/** The service tier of a provider's requests that name none; `any`: a setting of the account that is not known here. */
export type AccountTier = ServiceTier | 'any'

/**
 * Every price that may apply to a request for this service tier, which a provider may serve in its usual one, or in that
 * of its account. If the account's setting is not known (`any`), requests without a name may be served in every tier, and
 * `default` is the usual one; elsewhere `default` may be any.
 */
export function possiblePricings(
  pricing: Pricing,
  requested: RequestedTier,
  account: AccountTier | undefined,
): readonly Pricing[] {
  const { serviceTiers = {}, hours } = pricing
  const isAny = requested === 'auto' || requested === (account === 'any' ? 'unnamed' : 'default')
  const ofTiers = SERVICE_TIERS.filter((tier) => isAny || tier === requested || tier === account).map(
    (tier) => serviceTiers[tier],
  )
  const possible = [pricing, ...ofTiers.filter((each) => each !== undefined)]
  return hours === undefined ? possible : [...possible, ...hours.map((priced) => priced.pricing)]
}

/** The tier of a reply whose provider reports none: the requested one, else the account's if it is known. */
export function unreportedTier(
  requested: RequestedTier,
  account: AccountTier | undefined,
): ServiceTier | undefined {
  if (requested === 'default') return undefined
  if (requested !== 'auto' && requested !== 'unnamed') return requested
  return account === 'any' ? undefined : account
}

type TierBucket = 'prompt' | 'completion' | 'inputCacheRead' | 'inputCacheWrite' | 'inputCacheWriteHour'

export interface PricingTier extends Pick<Prices, TierBucket> {
  readonly minPromptTokens: number
}

export function formatPrices(prices: Prices): WrittenPrices {
  const written: Partial<Record<PriceName, string>> = {}
  for (const bucket of BUCKETS) {
    const price = prices[bucket]
    if (price !== undefined) written[PRICE_BUCKETS[bucket]] = formatPrice(price)
  }
  return written
}

/** The inverse of `formatPrices`. A text that is not a price goes to `onError`, whose default is to throw a `RangeError`. */
export function parsePrices(
  written: Readonly<Partial<Record<PriceName, string | undefined>>>,
  onError: (name: PriceName, error: unknown) => void = (_, error) => {
    throw error
  },
): Prices {
  const prices: Partial<Record<Bucket, Price>> = {}
  for (const bucket of BUCKETS) {
    const name = PRICE_BUCKETS[bucket]
    const text = written[name]
    if (text === undefined) continue
    try {
      prices[bucket] = parsePrice(text)
    } catch (error) {
      onError(name, error)
    }
  }
  return prices
}

/** A field of a schema for each price, under its name in the API. */
export function priceFields<Field>(field: Field): Record<PriceName, Field> {
  const fields: Partial<Record<PriceName, Field>> = {}
  for (const bucket of BUCKETS) fields[PRICE_BUCKETS[bucket]] = field
  if (!isComplete(fields)) throw new Error('a price has no field')
  return fields
}

const isComplete = <Field>(fields: Partial<Record<PriceName, Field>>): fields is Record<PriceName, Field> =>
  BUCKETS.every((bucket) => PRICE_BUCKETS[bucket] in fields)

/** Lifetime of context caches that Sluice creates at a provider. The write price covers it. */
export const CONTEXT_TTL_SECONDS = 300

/** True if every request is free. */
export const isFree = (pricing: Pricing): boolean =>
  [pricing.prompt, pricing.completion, pricing.request].every((price) => price === 0n) &&
  [pricing.image, pricing.imageOutput, pricing.audioSecond, pricing.inputCharacter].every(
    (price) => price === undefined || price === 0n,
  )
