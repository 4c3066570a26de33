import type { PromptMedia } from '../../core/generation.ts'
import { type Amount, added, amountOf, type Price, roundedNanoUsd } from '../../core/money.ts'
import { isFree } from '../../core/pricing.ts'
import type { Pricing, PricingTier } from '../../core/snapshot.ts'
import { promptTokens, type Usage } from '../../core/usage.ts'

export interface Cost {
  totalNanoUsd: number
  promptNanoUsd: number
  completionNanoUsd: number
  /** What reading from caches saved against the prompt price (negative where writing cost more); null without cached tokens. */
  cacheDiscountNanoUsd: number | null
}

export const FREE: Cost = {
  totalNanoUsd: 0,
  promptNanoUsd: 0,
  completionNanoUsd: 0,
  cacheDiscountNanoUsd: null,
}

type Rates = Pick<
  Pricing,
  'prompt' | 'completion' | 'inputCacheRead' | 'inputCacheWrite' | 'inputCacheWriteHour'
>

/** The rates for a prompt of this length: the tier with the largest reached threshold applies to the complete request. */
function ratesFor(pricing: Pricing, prompt: number): Rates {
  if (pricing.tiers === undefined) return pricing
  let reached: PricingTier | undefined
  for (const tier of pricing.tiers) {
    if (prompt >= tier.minPromptTokens && tier.minPromptTokens >= (reached?.minPromptTokens ?? 0))
      reached = tier
  }
  return {
    prompt: reached?.prompt ?? pricing.prompt,
    completion: reached?.completion ?? pricing.completion,
    inputCacheRead: reached?.inputCacheRead ?? pricing.inputCacheRead,
    inputCacheWrite: reached?.inputCacheWrite ?? pricing.inputCacheWrite,
    inputCacheWriteHour: reached?.inputCacheWriteHour ?? hourBeside(reached, pricing),
  }
}

/** What a tier does not tell holds as without it, but where the tier prices writes: an hour is never the cheaper one. */
const hourBeside = (tier: PricingTier | undefined, { inputCacheWriteHour }: Pricing): Price | undefined =>
  inputCacheWriteHour === undefined ? undefined : higher(inputCacheWriteHour, tier?.inputCacheWrite)

/** An absent or zero reasoning price means that reasoning is billed as completion. */
const reasoningRate = (pricing: Pricing, rates: Rates): Price =>
  pricing.internalReasoning !== undefined && pricing.internalReasoning > 0n
    ? pricing.internalReasoning
    : rates.completion

/** False for what costs nothing, whatever is asked. */
export const isPriced = (pricing: Pricing): boolean => !isFree(pricing)

/** What a generation costs: exact, rounded once. Buckets without a price of their own fall back (docs/compatibility.md). */
export function costOf(usage: Usage, pricing: Pricing): Cost {
  const rates = ratesFor(pricing, promptTokens(usage))
  const input = inputAmount(usage, pricing, rates)
  const output = outputAmount(usage, pricing, rates)
  let total = added(input, output)
  total = added(total, amountOf(Math.max(1, usage.searchUnits ?? 1), pricing.request))
  if (usage.webSearchRequests !== undefined)
    total = added(total, amountOf(usage.webSearchRequests, pricing.webSearch ?? 0n))
  const totalNanoUsd = roundedNanoUsd(total)
  const promptNanoUsd = Math.min(totalNanoUsd, roundedNanoUsd(input))
  return {
    totalNanoUsd,
    promptNanoUsd,
    completionNanoUsd: Math.min(totalNanoUsd - promptNanoUsd, roundedNanoUsd(output)),
    cacheDiscountNanoUsd: cacheDiscount(usage, rates),
  }
}

function inputAmount(usage: Usage, pricing: Pricing, rates: Rates): Amount {
  let amount = amountOf(usage.inputTokens, rates.prompt)
  amount = added(amount, cachedAmount(usage, rates))
  amount = added(amount, amountOf(usage.audioInputTokens, pricing.audio ?? rates.prompt))
  amount = added(amount, amountOf(usage.imageInputTokens, pricing.imageInput ?? rates.prompt))
  amount = added(amount, amountOf(usage.inputCharacters ?? 0, pricing.inputCharacter ?? 0n))
  return added(amount, secondsAmount(usage, pricing))
}

function outputAmount(usage: Usage, pricing: Pricing, rates: Rates): Amount {
  let amount = amountOf(usage.outputTokens, rates.completion)
  amount = added(amount, amountOf(usage.reasoningTokens, reasoningRate(pricing, rates)))
  amount = added(amount, amountOf(usage.audioOutputTokens, pricing.audioOutput ?? rates.completion))
  amount = added(amount, amountOf(usage.imageOutputTokens, imageTokenRate(usage, pricing, rates)))
  return added(amount, amountOf(usage.images ?? 0, pricing.image ?? 0n))
}

/** Made images with a price each are not charged by their tokens too. */
const imageTokenRate = ({ images }: Usage, pricing: Pricing, rates: Rates): Price =>
  images !== undefined && pricing.image !== undefined && pricing.image > 0n
    ? 0n
    : (pricing.imageOutput ?? rates.completion)

const MS_PER_SECOND = 1_000

/** Seconds have fractions; their price is per millisecond then, exactly. */
const secondsAmount = ({ audioSeconds }: Usage, { audioSecond }: Pricing): Amount =>
  audioSeconds === undefined || audioSecond === undefined
    ? 0
    : amountOf(Math.round(audioSeconds * MS_PER_SECOND), audioSecond / BigInt(MS_PER_SECOND))

/** What was read from caches, and what was written to them for minutes and for an hour. */
function cachedAmount(usage: Usage, rates: Rates): Amount {
  const write = rates.inputCacheWrite ?? rates.prompt
  const hour = Math.min(usage.cacheWriteHourTokens ?? 0, usage.cacheWriteTokens)
  const read = usage.cacheReadTokens + (usage.writtenApartTokens ?? 0)
  const written = added(
    amountOf(usage.cacheWriteTokens - hour, write),
    amountOf(hour, rates.inputCacheWriteHour ?? write),
  )
  return added(amountOf(read, rates.inputCacheRead ?? rates.prompt), written)
}

function cacheDiscount(usage: Usage, rates: Rates): number | null {
  const cached = usage.cacheReadTokens + usage.cacheWriteTokens
  if (cached === 0) return null
  return roundedNanoUsd(amountOf(cached, rates.prompt)) - roundedNanoUsd(cachedAmount(usage, rates))
}

/** What a prompt comes to at most, in tokens, by what they may be billed as. */
export interface PromptBound {
  readonly text: number
  readonly audio: number
  readonly image: number
  /** How many of them there are. */
  readonly media?: PromptMedia
  /** The caller marked some of it (`cache_control`) as worth keeping, for so long; absent: nothing. */
  readonly marked?: 'minutes' | 'hour' | undefined
  /** What is marked may be kept by a call of its own, where the provider keeps it so. */
  readonly mayCacheSeparately?: boolean
  /** How often the provider may search the web for it; absent: not at all. */
  readonly searches?: number
}

export const tokensIn = ({ text, audio, image }: PromptBound): number => text + audio + image

/** What may be charged at other prices than those of words. */
export interface Kinds {
  /** The answer may be sound, or images. */
  readonly audio: boolean
  readonly image: boolean
  /** The prompt may be written to a cache; absent: it is not. */
  readonly writes?: CacheWriting | undefined
}

/** How a prompt is written to a cache. `apart`: by a call of its own, and then read from it. */
export type CacheWriting = 'for-minutes' | 'for-an-hour' | 'apart'

export const TEXT_ONLY: Kinds = { audio: false, image: false }

/** The most that a request can cost here if the prompt is as long as estimated and the answer as long as allowed. */
export function holdOf(
  pricing: Pricing,
  prompt: PromptBound,
  outputBound: number,
  kinds: Kinds = TEXT_ONLY,
): number {
  const rates = ratesFor(pricing, tokensIn(prompt))
  const text = highestTextRate(rates, kinds.writes)
  let amount = amountOf(prompt.text, text)
  // Not every provider counts them apart: then they are the prompt's, and written as it is.
  amount = added(amount, amountOf(prompt.audio, higher(text, pricing.audio)))
  amount = added(amount, amountOf(prompt.image, higher(text, pricing.imageInput)))
  amount = added(amount, amountOf(outputBound, highestOutputRate(pricing, rates, kinds)))
  amount = added(amount, amountOf(1, pricing.request))
  return roundedNanoUsd(added(amount, amountOf(prompt.searches ?? 0, pricing.webSearch ?? 0n)))
}

function highestTextRate(rates: Rates, writes: CacheWriting | undefined): Price {
  if (writes === undefined) return rates.prompt
  const written = higher(rates.prompt, rates.inputCacheWrite)
  if (writes === 'apart') return written + (rates.inputCacheRead ?? rates.prompt)
  return writes === 'for-an-hour' ? higher(written, rates.inputCacheWriteHour) : written
}

function highestOutputRate(pricing: Pricing, rates: Rates, { audio, image }: Kinds): Price {
  const textRate = higher(rates.completion, reasoningRate(pricing, rates))
  const withAudio = audio ? higher(textRate, pricing.audioOutput) : textRate
  return image ? higher(withAudio, pricing.imageOutput) : withAudio
}

const higher = (price: Price, other: Price | undefined): Price =>
  other !== undefined && other > price ? other : price

/** The longest answer whose hold is within `nanoUsd`; Infinity when output is free and the rest fits, 0 when nothing does. */
export function outputBoundWithin(
  pricing: Pricing,
  prompt: PromptBound,
  nanoUsd: number,
  kinds: Kinds = TEXT_ONLY,
): number {
  const fixed = holdOf(pricing, prompt, 0, kinds)
  if (fixed > nanoUsd) return 0
  const rate = highestOutputRate(pricing, ratesFor(pricing, tokensIn(prompt)), kinds)
  if (rate === 0n) return Number.POSITIVE_INFINITY
  return Number((BigInt(nanoUsd - fixed) * 1_000_000_000n) / rate)
}
