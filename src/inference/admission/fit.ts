import type { Attempt } from '../../core/attempt.ts'
import { MAX_NANO_USD } from '../../core/money.ts'
import type { Pricing } from '../../core/snapshot.ts'
import type { Room } from '../../ledger/ledger.ts'
import {
  type CacheWriting,
  holdOf,
  type Kinds,
  outputBoundWithin,
  type PromptBound,
  tokensIn,
} from './price.ts'

/** Attempts of one account, with the most that they can cost. */
export interface Fitted {
  attempts: Attempt[]
  amountNanoUsd: number
  fits: boolean
}

/** What a conversation is priced by. */
export interface Priced {
  readonly prompt: PromptBound
  /** The caller's bound on each answer; undefined: it set none. */
  readonly maxOutputTokens: number | undefined
  readonly choices: number
  /** The answer may be sound. */
  readonly hasAudioOutput: boolean
}

/** An answer that nothing bounds is reserved at this length. */
const UNKNOWN_BOUND_TOKENS = 16_384
/** A request without a bound reserves at most this share of what its limits leave, and those beside it find the rest. */
const UNBOUNDED_SHARE = 1 / 4
/** But the answer may always have this length, where there is so much money. */
const FLOOR_BOUND_TOKENS = 4_096
/** A shorter answer than this is not worth sending in place of a refusal. */
export const LEAST_BOUND_TOKENS = 1_024

/** The price of an attempt; the plan lets no endpoint through without one. */
export function pricingOf(attempt: Attempt): Pricing {
  if (!attempt.endpoint.pricing)
    throw new Error(`the endpoint ${attempt.endpoint.id} was planned without a price`)
  return attempt.endpoint.pricing
}

/**
 * The most that these attempts can cost, and whether there is room for it. Without a bound of the caller's they are
 * given one: a quarter of the room or 4,096 tokens, whichever is more. `isLast`: there is no waiting for those 4,096
 * tokens, so 1,024 will do.
 */
export function fitConversation(group: Attempt[], priced: Priced, room: Room, isLast: boolean): Fitted {
  const { prompt, maxOutputTokens, choices, hasAudioOutput } = priced
  const costAt = (bound: number | undefined): number =>
    highestCost(group, prompt, bound, choices, hasAudioOutput)
  const fullCost = costAt(maxOutputTokens)
  // An amount that no counter can hold means a wrong price: the ledger rejects it.
  if (maxOutputTokens !== undefined || room.nanoUsd === Number.POSITIVE_INFINITY || fullCost > MAX_NANO_USD)
    return { attempts: group, amountNanoUsd: fullCost, fits: fullCost <= room.nanoUsd }
  const shareNanoUsd = Math.floor(room.nanoUsd * UNBOUNDED_SHARE)
  const floor = costAt(FLOOR_BOUND_TOKENS)
  const bounded = (bound: number, fits: boolean): Fitted => ({
    attempts: group.map((attempt) => boundedBy(attempt, bound, prompt)),
    amountNanoUsd: costAt(bound),
    fits,
  })
  const within = (nanoUsd: number): number => largestBound(group, prompt, nanoUsd, choices, hasAudioOutput)
  if (fullCost <= room.nanoUsd && fullCost <= Math.max(shareNanoUsd, floor)) {
    const attempts = group.map((attempt) =>
      longestOf(attempt) === undefined ? { ...attempt, outputBound: UNKNOWN_BOUND_TOKENS } : attempt,
    )
    return { attempts, amountNanoUsd: fullCost, fits: true }
  }
  if (floor <= room.nanoUsd) return bounded(Math.max(FLOOR_BOUND_TOKENS, within(shareNanoUsd)), true)
  if (!isLast && floor <= room.unspentNanoUsd) return bounded(FLOOR_BOUND_TOKENS, false)
  if (costAt(LEAST_BOUND_TOKENS) <= room.nanoUsd) return bounded(within(room.nanoUsd), true)
  return bounded(LEAST_BOUND_TOKENS, false)
}

/** The longest answer of the model; undefined: unknown. */
const longestOf = ({ endpoint }: Attempt): number | undefined =>
  endpoint.maxCompletionTokens ?? endpoint.contextLength ?? undefined

/**
 * An endpoint whose longest answer is shorter needs no bound. A provider refuses a bound that does not fit into the
 * context beside the prompt; the estimate of the prompt may be too high, so at least 1,024 tokens stay.
 */
function boundedBy(attempt: Attempt, bound: number, prompt: PromptBound): Attempt {
  if (bound >= (longestOf(attempt) ?? Number.POSITIVE_INFINITY)) return attempt
  const { contextLength } = attempt.endpoint
  const beside =
    contextLength === null ? bound : Math.max(LEAST_BOUND_TOKENS, contextLength - tokensIn(prompt))
  return { ...attempt, outputBound: Math.min(bound, beside) }
}

/** The longest answer, for each of the choices, that every attempt could give within `nanoUsd`. */
const largestBound = (
  attempts: readonly Attempt[],
  prompt: PromptBound,
  nanoUsd: number,
  choices: number,
  hasAudioOutput: boolean,
): number => {
  const bounds = attempts.map((attempt) =>
    outputBoundWithin(pricingOf(attempt), prompt, nanoUsd, kindsOf(attempt, prompt, hasAudioOutput)),
  )
  return Math.floor(Math.min(...bounds) / choices)
}

/** Sound is answered where it is asked for; a model that paints may do so unasked. */
const kindsOf = (attempt: Attempt, prompt: PromptBound, hasAudioOutput: boolean): Kinds => ({
  audio: hasAudioOutput,
  image: attempt.endpoint.outputModalities.includes('image'),
  writes: writingOf(attempt, prompt),
})

/** Anthropic, Bedrock and Google cache what `cache_control` marks; further providers decide themselves. */
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

function highestCost(
  attempts: readonly Attempt[],
  prompt: PromptBound,
  bound: number | undefined,
  choices: number,
  hasAudioOutput: boolean,
): number {
  let most = 0
  for (const attempt of attempts) {
    const longest = longestOf(attempt)
    const output = Math.min(bound ?? longest ?? UNKNOWN_BOUND_TOKENS, longest ?? Number.POSITIVE_INFINITY)
    const kinds = kindsOf(attempt, prompt, hasAudioOutput)
    most = Math.max(most, holdOf(pricingOf(attempt), prompt, output * choices, kinds))
  }
  return most
}
