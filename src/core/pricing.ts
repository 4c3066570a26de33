import type { Price } from './money.ts'

/** Exact prices. Undefined buckets fall back as `readings.md` says; `prompt` and `completion` are always known. */
export interface Pricing {
  readonly prompt: Price
  readonly completion: Price
  readonly request: Price
  readonly image?: Price
  /** Per token of an image that is looked at. */
  readonly imageInput?: Price
  readonly imageOutput?: Price
  readonly audio?: Price
  readonly audioOutput?: Price
  readonly inputCacheRead?: Price
  readonly inputCacheWrite?: Price
  /** Of what is written to be kept for an hour. */
  readonly inputCacheWriteHour?: Price
  readonly internalReasoning?: Price
  readonly webSearch?: Price
  /** Per second of audio that is listened to. */
  readonly audioSecond?: Price
  /** Per character that is spoken. */
  readonly inputCharacter?: Price
  /** Dearer prices for long prompts: the one with the largest reached `minPromptTokens` holds for the whole request. */
  readonly tiers?: readonly PricingTier[]
}

/** How long a context cache lives that we have a provider make: a price of writing one holds for it. */
export const CONTEXT_TTL_SECONDS = 300

export interface PricingTier {
  readonly minPromptTokens: number
  readonly prompt?: Price
  readonly completion?: Price
  readonly inputCacheRead?: Price
  readonly inputCacheWrite?: Price
  readonly inputCacheWriteHour?: Price
}

/** True for what costs nothing, whatever is asked. */
export const isFree = (pricing: Pricing): boolean =>
  [pricing.prompt, pricing.completion, pricing.request].every((price) => price === 0n) &&
  [pricing.image, pricing.imageOutput, pricing.audioSecond, pricing.inputCharacter].every(
    (price) => price === undefined || price === 0n,
  )
