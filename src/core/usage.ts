import type { DialectName } from './dialect-name.ts'
import type { JsonObject } from './json.ts'

/**
 * Tokens in disjoint buckets: no token is counted in two of them. Dialects differ (OpenAI's prompt_tokens
 * includes cache reads, Anthropic's input_tokens does not); each egress maps to this, each ingress maps back.
 */
export interface Usage {
  /** Text input that was neither read from nor written to a cache. */
  inputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
  /** The part of `cacheWriteTokens` with a lifetime of an hour. Never added to a sum. */
  cacheWriteHourTokens?: number
  audioInputTokens: number
  imageInputTokens: number
  /** Visible text output, tool calls included, reasoning excluded. */
  outputTokens: number
  reasoningTokens: number
  audioOutputTokens: number
  imageOutputTokens: number
  acceptedPredictionTokens?: number
  rejectedPredictionTokens?: number
  webSearchRequests?: number
  /** Of `cacheWriteTokens`, those that a call of its own wrote and this answer then read: charged for both. */
  writtenApartTokens?: number
  /**
   * Further passes of the model that the provider charges beside these counts, such as the summary of a conversation.
   * Each costs the rates of its own prompt. Never added to a sum.
   */
  passes?: readonly Usage[]
  /** Counts in other units than tokens, if the kind of inference has them. */
  searchUnits?: number
  /** Pages that were read, charged as requests. */
  pages?: number
  /** Images that were made. */
  images?: number
  /** Seconds of audio that were listened to, fractions included. */
  audioSeconds?: number
  /** Characters that were spoken. */
  inputCharacters?: number
  /** The charge that the provider reported, in USD. */
  providerCostUsd?: number
  /** Further fields of the provider's usage, for a writer of the same dialect. */
  native?: NativeUsage
}

interface NativeUsage {
  readonly dialect: DialectName
  readonly fields: JsonObject
}

/** Whose figures they are. `estimated` is ours; `none` means that nothing was delivered, so nothing is due. */
export type UsageSource = 'provider' | 'estimated' | 'none'

export const NO_USAGE: Readonly<Usage> = Object.freeze({
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  audioInputTokens: 0,
  imageInputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  audioOutputTokens: 0,
  imageOutputTokens: 0,
})

/** All input tokens, cached and written ones included: OpenAI's `prompt_tokens`. */
export const promptTokens = (usage: Usage): number =>
  usage.inputTokens +
  usage.cacheReadTokens +
  usage.cacheWriteTokens +
  usage.audioInputTokens +
  usage.imageInputTokens

/** All output tokens, reasoning included: OpenAI's `completion_tokens`. */
export const completionTokens = (usage: Usage): number =>
  usage.outputTokens + usage.reasoningTokens + usage.audioOutputTokens + usage.imageOutputTokens

/**
 * More of anything (tokens, images, seconds, characters) than a request can use: ten times the longest context of a model.
 * A provider that reports more is wrong. Sums of such counts would exceed the integers of the database.
 */
export const MOST_COUNTED = 100_000_000

/** False if any count cannot be true. */
export const isPlausible = (usage: Usage): boolean =>
  Object.values(usage).every((value) => typeof value !== 'number' || value <= MOST_COUNTED)

/** The same without derived values. */
export const inputOf = (usage: Usage): Usage => ({
  ...usage,
  outputTokens: 0,
  reasoningTokens: 0,
  audioOutputTokens: 0,
  imageOutputTokens: 0,
  images: 0,
})

/** The sum of both; counts of only one are unchanged. */
export function addedUsage(left: Usage, right: Usage): Usage {
  const sum: Usage = { ...left, ...right }
  for (const bucket of COUNTED) {
    const [a, b] = [left[bucket], right[bucket]]
    if (a !== undefined && b !== undefined) sum[bucket] = a + b
  }
  if (left.passes && right.passes) sum.passes = [...left.passes, ...right.passes]
  return sum
}

const COUNTED = [
  'inputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'cacheWriteHourTokens',
  'audioInputTokens',
  'imageInputTokens',
  'outputTokens',
  'reasoningTokens',
  'audioOutputTokens',
  'imageOutputTokens',
  'webSearchRequests',
  'writtenApartTokens',
  'providerCostUsd',
] as const satisfies readonly (keyof Usage)[]

/** An estimate for text without a token count: four characters per token, at least 1 for any text. */
export const estimateTokens = (characters: number): number => Math.ceil(characters / 4)
