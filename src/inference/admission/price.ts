import type { PromptMedia } from '../../core/generation.ts'
import { type Amount, added, amountOf, type Price, roundedNanoUsd } from '../../core/money.ts'
import { isFree } from '../../core/pricing.ts'
import type { Pricing, PricingTier } from '../../core/snapshot.ts'
import { promptTokens, type Usage } from '../../core/usage.ts'
import type { PartKind } from './part-kinds.ts'

export interface Cost {
  totalNanoUsd: number
  promptNanoUsd: number
  completionNanoUsd: number
  /** Savings by the prompt cache; negative if cache writes cost more than reads saved. Null without cached tokens. */
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

/** The rates for a prompt of this length. The highest tier whose threshold it reaches applies to the complete request. */
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

/** A one-hour cache write never costs less than the tier's five-minute write. */
const hourBeside = (tier: PricingTier | undefined, { inputCacheWriteHour }: Pricing): Price | undefined =>
  inputCacheWriteHour === undefined ? undefined : higher(inputCacheWriteHour, tier?.inputCacheWrite)

/** Without a reasoning price, or if it is 0, reasoning is billed as completion. */
const reasoningRate = (pricing: Pricing, rates: Rates): Price =>
  pricing.internalReasoning !== undefined && pricing.internalReasoning > 0n
    ? pricing.internalReasoning
    : rates.completion

/** False if no request can cost anything. */
export const isPriced = (pricing: Pricing): boolean => !isFree(pricing)

/** The exact cost of a generation, rounded once. docs/compatibility.md lists the fallbacks for missing prices. */
export function costOf(usage: Usage, pricing: Pricing): Cost {
  const rates = ratesFor(pricing, promptTokens(usage))
  let input = inputAmount(usage, pricing, rates)
  let output = outputAmount(usage, pricing, rates)
  for (const pass of usage.passes ?? []) {
    const own = ratesFor(pricing, promptTokens(pass))
    input = added(input, inputAmount(pass, pricing, own))
    output = added(output, outputAmount(pass, pricing, own))
  }
  let total = added(input, output)
  total = added(total, amountOf(Math.max(1, usage.searchUnits ?? usage.pages ?? 1), pricing.request))
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

/** Images that are charged by piece are not charged by their tokens as well. */
const imageTokenRate = ({ images }: Usage, pricing: Pricing, rates: Rates): Price =>
  images !== undefined && pricing.image !== undefined && pricing.image > 0n
    ? 0n
    : (pricing.imageOutput ?? rates.completion)

const MS_PER_SECOND = 1_000

/** Seconds may be fractional, so the exact amount is computed in milliseconds. */
const secondsAmount = ({ audioSeconds }: Usage, { audioSecond }: Pricing): Amount =>
  audioSeconds === undefined || audioSecond === undefined
    ? 0
    : amountOf(Math.round(audioSeconds * MS_PER_SECOND), audioSecond / BigInt(MS_PER_SECOND))

/** The amount for cache reads, five-minute writes and one-hour writes. */
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

/** The maximum tokens of a prompt, by modality. */
export interface PromptBound {
  readonly text: number
  readonly audio: number
  readonly image: number
  /** The number of images and recordings. */
  readonly media?: PromptMedia
  /** The longest time to live of its `cache_control` markers; absent without markers. */
  readonly marked?: 'minutes' | 'hour' | undefined
  /** The marked prefix may be cached by a separate call, at providers that cache so. */
  readonly mayCacheSeparately?: boolean
  /** The maximum number of web searches; absent: none. */
  readonly searches?: number
  /** The provider runs its own plugins and tools, and charges for them. */
  readonly isDelegated?: boolean
  /** The least tokens that its texts have; absent: unknown. */
  readonly least?: number
  /** Kinds of its parts other than text; absent: none. */
  readonly kinds?: ReadonlySet<PartKind> | undefined
}

export const tokensIn = ({ text, audio, image }: PromptBound): number => text + audio + image

/** Whether a request may be charged for more than plain text. */
export interface Kinds {
  /** The reply may contain audio, or images. */
  readonly audio: boolean
  readonly image: boolean
  /** How the prompt may be written to a cache; absent: it is not. */
  readonly writes?: CacheWriting | undefined
}

/** How a prompt is written to a cache. `apart`: by a separate call, and then read from the cache. */
export type CacheWriting = 'for-minutes' | 'for-an-hour' | 'apart'

export const TEXT_ONLY: Kinds = { audio: false, image: false }

/** The maximum cost of a request: the prompt at its estimate, the reply at its bound, in one service tier. */
export function holdOf(
  pricing: Pricing,
  prompt: PromptBound,
  outputBound: number,
  kinds: Kinds = TEXT_ONLY,
): number {
  const rates = ratesFor(pricing, tokensIn(prompt))
  const text = highestTextRate(rates, kinds.writes)
  let amount = amountOf(prompt.text, text)
  // Some providers bill audio and images as prompt text, including cache writes.
  amount = added(amount, amountOf(prompt.audio, higher(text, pricing.audio)))
  amount = added(amount, amountOf(prompt.image, higher(text, pricing.imageInput)))
  amount = added(amount, amountOf(outputBound, highestOutputRate(pricing, rates, kinds)))
  amount = added(amount, amountOf(1, pricing.request))
  const search = pricing.webSearch ?? (prompt.isDelegated ? DELEGATED_SEARCH : 0n)
  return roundedNanoUsd(added(amount, amountOf(prompt.searches ?? 0, search)))
}

/** USD 0.02: five results of OpenRouter's dearest engine for each search (its documentation, 2026). */
const DELEGATED_SEARCH: Price = 20_000_000_000_000_000n

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

/** The output tokens that fit within `nanoUsd`: 0 if the prompt alone does not fit, Infinity if output is free. */
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
