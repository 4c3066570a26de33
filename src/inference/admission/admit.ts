import type { Attempt } from '../../core/attempt.ts'
import type { Caller } from '../../core/caller.ts'
import { type Cancellation, signalOf } from '../../core/cancellation.ts'
import type { Gate } from '../../core/gate.ts'
import { possiblePricings, type RequestedTier, requestedTierOf } from '../../core/pricing.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { Pricing } from '../../core/snapshot.ts'
import { inputOf, promptTokens, type Usage } from '../../core/usage.ts'
import type { Claim, Hold, Ledger, Remaining } from '../../ledger/ledger.ts'
import { type Fitted, fitConversation, LEAST_BOUND_TOKENS, pricingOf } from './fit.ts'
import { costOf, type PromptBound, tokensIn } from './price.ts'
import type { RateHold, TokensNeeded } from './rates.ts'

export interface Admission {
  hold: Hold
  /** With an output bound if a spending limit sets one. */
  attempts: Attempt[]
  promptTokensEstimate: number
  requestedTier?: RequestedTier
  promptMedia?: PromptBound['media']
  /** The usage to charge if the process crashes before the reply; absent: the prompt's tokens. */
  promptOnly?: Usage
  /** Absent if the key has no rate limits. */
  rates?: RateHold
}

/** The caller and generation that a reservation is for. */
export interface Claiming {
  readonly caller: Caller
  readonly ledger: Ledger
  readonly generationId: string
  readonly startedAt: number
  /** Cancelled once no caller waits for the reply. */
  readonly cancellation: Cancellation
}

/** A promise only if the request must wait for running reservations to be released. */
export type Admitted = Admission | Promise<Admission>

/**
 * Reserves the request's maximum cost at its most expensive endpoint. If the request sets no output bound and its caller
 * has a spending limit, the limit sets one; see `fitConversation`.
 */
export function admit(
  request: InferenceRequest,
  prompt: PromptBound,
  attempts: Attempt[],
  claiming: Claiming,
): Admitted {
  const { maxOutputTokens, choiceCount: choices = 1 } = request
  const hasAudioOutput = request.modalities?.includes('audio') === true
  const requestedTier = requestedTierOf(request.serviceTier)
  const priced = { prompt, maxOutputTokens, choices, hasAudioOutput, requestedTier }
  const fit: Fit = (group, remaining, isLast) => fitConversation(group, priced, remaining, isLast)
  const hint = maxOutputTokens === undefined ? UNBOUNDED_HINT : BOUNDED_HINT
  const promptTokensEstimate = tokensIn(prompt)
  return claimGroups(attempts, fit, claiming, hint, ({ hold, needed }) => ({
    hold,
    attempts: needed.attempts,
    promptTokensEstimate,
    requestedTier,
    promptMedia: prompt.media,
  }))
}

const UNBOUNDED_HINT = `The request sets no max_tokens, so at least ${LEAST_BOUND_TOKENS.toLocaleString('en')} output tokens are reserved for it: a smaller max_tokens needs less`
const BOUNDED_HINT = 'A smaller max_tokens needs less'

/** The tokens of a conversation, for token limits. */
export const tokensOf = (request: InferenceRequest, prompt: PromptBound): TokensNeeded => ({
  prompt: tokensIn(prompt),
  output: (request.maxOutputTokens ?? 0) * (request.choiceCount ?? 1),
})

type Fit = (group: Attempt[], remaining: Remaining, isLast: boolean) => Fitted

/** The reservations of both accounts, and the attempts they cover. */
interface Needed {
  readonly amountNanoUsd: number
  readonly sharedNanoUsd: number | null
  readonly attempts: Attempt[]
}

/**
 * Reserves the maximum cost of both accounts: the gateway's, which every gate counts, and the BYOK keys', which only some
 * gates count. If the gateway's account does not fit a limit, only the BYOK keys are used.
 */
function claimGroups(
  attempts: Attempt[],
  fit: Fit,
  { caller, ledger, generationId, startedAt, cancellation }: Claiming,
  hint: string | undefined,
  admission: (claim: Claim<Needed>) => Admission,
): Admitted {
  const gates = caller.key.spendingGates ?? NO_GATES
  const claim = ledger.claim<Needed>({
    generationId,
    gates,
    startedAt,
    get signal() {
      return signalOf(cancellation)
    },
    need: (remainingOf, isLast) => neededBy(attempts, fit, gates, remainingOf, isLast),
    hint,
  })
  return claim instanceof Promise ? claim.then(admission) : admission(claim)
}

const NO_GATES: readonly Gate[] = Object.freeze([])

function neededBy(
  attempts: Attempt[],
  fit: Fit,
  gates: readonly Gate[],
  remainingOf: (gates: readonly Gate[]) => Remaining,
  isLast: boolean,
): Needed {
  if (!attempts.some(hasByokKey)) {
    const { attempts: fitted, amountNanoUsd } = fit(attempts, remainingOf(gates), isLast)
    return { attempts: fitted, amountNanoUsd, sharedNanoUsd: amountNanoUsd }
  }
  const own = attempts.filter(hasByokKey)
  const counting = gates.filter(({ includeByok }) => includeByok === true)
  const ownFit = fit(own, remainingOf(counting), isLast)
  const shared = attempts.filter(({ byokKey }) => byokKey === undefined)
  const sharedFit = ownFit.fits && shared.length > 0 ? fit(shared, remainingOf(gates), isLast) : null
  if (!sharedFit?.fits)
    return { attempts: ownFit.attempts, amountNanoUsd: ownFit.amountNanoUsd, sharedNanoUsd: null }
  return {
    attempts: inOrder(attempts, ownFit, sharedFit),
    amountNanoUsd: Math.max(ownFit.amountNanoUsd, sharedFit.amountNanoUsd),
    sharedNanoUsd: sharedFit.amountNanoUsd,
  }
}

const hasByokKey = ({ byokKey }: Attempt): boolean => byokKey !== undefined

/** The plan's order, with each account's output bounds. */
function inOrder(attempts: readonly Attempt[], own: Fitted, shared: Fitted): Attempt[] {
  const queues = { own: [...own.attempts], shared: [...shared.attempts] }
  return attempts.flatMap(({ byokKey }) => (byokKey === undefined ? queues.shared : queues.own).shift() ?? [])
}

/** Reserves `bound`, the request's maximum usage, at its most expensive endpoint. */
export function admitUnits(
  bound: (pricing: Pricing) => Usage,
  attempts: Attempt[],
  claiming: Claiming,
): Admitted {
  const [first] = attempts
  if (!first) throw new Error('a plan without attempts')
  const most = bound(pricingOf(first))
  const fit: Fit = (group, { nanoUsd }) => {
    const pricings = group.flatMap((attempt) => possiblePricings(pricingOf(attempt), undefined, undefined))
    const amountNanoUsd = Math.max(...pricings.map((pricing) => costOf(bound(pricing), pricing).totalNanoUsd))
    return { attempts: group, amountNanoUsd, fits: amountNanoUsd <= nanoUsd }
  }
  return claimGroups(attempts, fit, claiming, undefined, ({ hold, needed }) => ({
    hold,
    attempts: needed.attempts,
    promptTokensEstimate: promptTokens(most),
    promptOnly: inputOf(most),
  }))
}

/** The tokens of a request that `admitUnits` admits, for token limits. Its output has no bound. */
export function tokensOfUnits(
  bound: (pricing: Pricing) => Usage,
  attempts: readonly Attempt[],
): TokensNeeded {
  const most = attempts.map((attempt) => promptTokens(bound(pricingOf(attempt))))
  return { prompt: Math.max(0, ...most), output: 0 }
}

/** Admits a free reply regardless of spending limits. */
export const admitFree = (attempts: Attempt[], { ledger, generationId, startedAt }: Claiming): Admission => ({
  hold: ledger.reserve({ generationId, gates: NO_GATES, amountNanoUsd: 0, startedAt }),
  attempts,
  promptTokensEstimate: 0,
})
