import type { Attempt } from '../../core/attempt.ts'
import { MAX_NANO_USD } from '../../core/money.ts'
import { possiblePricings, type RequestedTier } from '../../core/pricing.ts'
import type { Pricing } from '../../core/snapshot.ts'
import type { Remaining } from '../../ledger/ledger.ts'
import {
  type CacheWriting,
  holdOf,
  type Kinds,
  outputBoundWithin,
  type PromptBound,
  tokensIn,
} from './price.ts'

/** Attempts of one account, with their maximum cost. */
export interface Fitted {
  attempts: Attempt[]
  amountNanoUsd: number
  fits: boolean
}

/** The properties of a conversation that determine its maximum cost. */
export interface Priced {
  readonly prompt: PromptBound
  /** The caller's bound on each choice; undefined if it set none. */
  readonly maxOutputTokens: number | undefined
  readonly choices: number
  /** The reply may contain audio. */
  readonly hasAudioOutput: boolean
  readonly requestedTier?: RequestedTier
}

/** Reserved for a reply whose length neither the request nor the model bounds. */
const UNKNOWN_BOUND_TOKENS = 16_384
/** A request without `max_tokens` reserves at most this share of the remaining budget; the rest is for other requests. */
const UNBOUNDED_SHARE = 1 / 4
/** If the budget allows, an output bound set by a limit is at least this. */
const FLOOR_BOUND_TOKENS = 4_096
/** The request is rejected rather than sent with a smaller bound. */
export const LEAST_BOUND_TOKENS = 1_024

/** The price of an attempt. The plan excludes endpoints without one. */
export function pricingOf(attempt: Attempt): Pricing {
  if (!attempt.endpoint.pricing)
    throw new Error(`the endpoint ${attempt.endpoint.id} was planned without a price`)
  return attempt.endpoint.pricing
}

/**
 * The maximum cost of these attempts, and whether it fits the remaining budget. If the caller sets no output bound, they
 * get one: a quarter of the remaining budget or 4,096 tokens, whichever is more. `isLast`: the request does not wait for
 * budget to be released, so 1,024 tokens suffice.
 */
export function fitConversation(
  group: Attempt[],
  priced: Priced,
  remaining: Remaining,
  isLast: boolean,
): Fitted {
  const { prompt, maxOutputTokens } = priced
  const costAt = (bound: number | undefined): number => highestCost(group, priced, bound)
  const fullCost = costAt(maxOutputTokens)
  // An amount beyond the ledger's range means a wrong price: the ledger rejects it.
  if (
    maxOutputTokens !== undefined ||
    remaining.nanoUsd === Number.POSITIVE_INFINITY ||
    fullCost > MAX_NANO_USD
  )
    return { attempts: group, amountNanoUsd: fullCost, fits: fullCost <= remaining.nanoUsd }
  const shareNanoUsd = Math.floor(remaining.nanoUsd * UNBOUNDED_SHARE)
  const floor = costAt(FLOOR_BOUND_TOKENS)
  const bounded = (bound: number, fits: boolean): Fitted => ({
    attempts: group.map((attempt) => boundedBy(attempt, bound, prompt)),
    amountNanoUsd: costAt(bound),
    fits,
  })
  const within = (nanoUsd: number): number => largestBound(group, priced, nanoUsd)
  if (fullCost <= remaining.nanoUsd && fullCost <= Math.max(shareNanoUsd, floor)) {
    const attempts = group.map((attempt) =>
      longestOf(attempt) === undefined ? { ...attempt, outputBound: UNKNOWN_BOUND_TOKENS } : attempt,
    )
    return { attempts, amountNanoUsd: fullCost, fits: true }
  }
  if (floor <= remaining.nanoUsd) return bounded(Math.max(FLOOR_BOUND_TOKENS, within(shareNanoUsd)), true)
  if (!isLast && floor <= remaining.unspentNanoUsd) return bounded(FLOOR_BOUND_TOKENS, false)
  if (costAt(LEAST_BOUND_TOKENS) <= remaining.nanoUsd) return bounded(within(remaining.nanoUsd), true)
  return bounded(LEAST_BOUND_TOKENS, false)
}

/** The maximum output tokens of the model; undefined if unknown. */
const longestOf = ({ endpoint }: Attempt): number | undefined =>
  endpoint.maxCompletionTokens ?? endpoint.contextLength ?? undefined

/**
 * An endpoint with a smaller maximum output needs no bound. Providers reject a bound that does not fit into the context
 * together with the prompt. The prompt's estimate may be too high, so the bound is at least 1,024 tokens.
 */
function boundedBy(attempt: Attempt, bound: number, prompt: PromptBound): Attempt {
  if (bound >= (longestOf(attempt) ?? Number.POSITIVE_INFINITY)) return attempt
  const { contextLength } = attempt.endpoint
  const beside =
    contextLength === null ? bound : Math.max(LEAST_BOUND_TOKENS, contextLength - tokensIn(prompt))
  return { ...attempt, outputBound: Math.min(bound, beside) }
}

/** The maximum output tokens per choice that every attempt can generate within `nanoUsd`, in any tier that may be served. */
function largestBound(group: readonly Attempt[], priced: Priced, nanoUsd: number): number {
  const bounds = group.flatMap((attempt) => {
    const kinds = kindsOf(attempt, priced)
    return possibleOf(attempt, priced).map((pricing) =>
      outputBoundWithin(pricing, priced.prompt, nanoUsd, kinds),
    )
  })
  return Math.floor(Math.min(...bounds) / priced.choices)
}

const possibleOf = (attempt: Attempt, { requestedTier }: Priced): readonly Pricing[] =>
  possiblePricings(pricingOf(attempt), requestedTier, attempt.provider.quirks.accountTier)

/** Audio is generated only on request; an image model may generate images without one. */
const kindsOf = (attempt: Attempt, { prompt, hasAudioOutput }: Priced): Kinds => ({
  audio: hasAudioOutput,
  image: attempt.endpoint.outputModalities.includes('image'),
  writes: writingOf(attempt, prompt),
})

/** Anthropic, Bedrock and Google cache at `cache_control` markers; other providers cache automatically. */
function writingOf(
  { dialect, endpoint }: Attempt,
  { marked, mayCacheSeparately }: PromptBound,
): CacheWriting | undefined {
  const { inputCacheWrite, inputCacheWriteHour } = endpoint.pricing ?? {}
  if (inputCacheWrite === undefined && inputCacheWriteHour === undefined) return undefined
  const writesMarked = dialect === 'messages' || dialect === 'converse' || dialect === 'gemini'
  if (marked === undefined && writesMarked) return undefined
  if (dialect === 'gemini') return mayCacheSeparately ? 'apart' : undefined
  return marked === 'hour' ? 'for-an-hour' : 'for-minutes'
}

/** The cost of the most expensive attempt, in the most expensive tier that may be served. */
function highestCost(attempts: readonly Attempt[], priced: Priced, bound: number | undefined): number {
  const { prompt, choices } = priced
  let most = 0
  for (const attempt of attempts) {
    const longest = longestOf(attempt)
    const output = Math.min(bound ?? longest ?? UNKNOWN_BOUND_TOKENS, longest ?? Number.POSITIVE_INFINITY)
    const kinds = kindsOf(attempt, priced)
    const usual = pricingOf(attempt)
    most = Math.max(most, holdOf(usual, prompt, output * choices, kinds))
    if (usual.serviceTiers === undefined && usual.hours === undefined) continue
    for (const pricing of possibleOf(attempt, priced))
      most = Math.max(most, holdOf(pricing, prompt, output * choices, kinds))
  }
  return most
}
