import type { Attempt } from '../core/attempt.ts'
import type { Caller } from '../core/caller.ts'
import { GatewayError } from '../core/errors.ts'
import { type Gate, intervalOf } from '../core/gate.ts'
import { gatesOfGuardrails } from '../core/guardrail.ts'
import type { InferenceRequest } from '../core/request.ts'
import type { KeyRecord, Pricing, WorkspaceRecord } from '../core/snapshot.ts'
import { inputOf, promptTokens, type Usage } from '../core/usage.ts'
import type { Hold, Ledger } from '../ledger/ledger.ts'
import {
  type CacheWriting,
  costOf,
  holdOf,
  type Kinds,
  outputBoundWithin,
  type PromptBound,
  tokensIn,
} from './price.ts'
import type { RateHold, TokensNeeded } from './rates.ts'

export interface Admission {
  hold: Hold
  /** With the bound that money sets, where it sets one. */
  attempts: Attempt[]
  promptTokensEstimate: number
  promptMedia?: PromptBound['media']
  /** What is charged when the process dies before the answer; absent: the prompt's tokens. */
  promptOnly?: Usage
  /** Absent: nothing bounds how often this key may ask. */
  rates?: RateHold
}

/** Answers that are bounded by nothing we know of are held for at this length. */
const UNKNOWN_BOUND_TOKENS = 16_384
/** A shorter answer than this is not worth sending in place of a refusal. */
const LEAST_BOUND_TOKENS = 1_024

/** By the key as one snapshot has it, with the workspace of the same. */
const keptGates = new WeakMap<KeyRecord, { workspace: WorkspaceRecord; gates: readonly Gate[] }>()

/** Made once for each key of a snapshot: the ledger knows the list again when the key asks again. */
export function gatesOf({ key, workspace }: Caller): readonly Gate[] {
  const kept = keptGates.get(key)
  if (kept !== undefined && kept.workspace === workspace) return kept.gates
  const gates = Object.freeze(makeGates(key, workspace))
  keptGates.set(key, { workspace, gates })
  return gates
}

/** Every bound on this caller's spending: the key's limit, the budgets of workspace and guardrails, the allowance. */
function makeGates(key: KeyRecord, workspace: WorkspaceRecord): Gate[] {
  const gates: Gate[] = []
  if (key.limitNanoUsd !== null) {
    gates.push({
      scope: 'key',
      id: key.hash,
      label: 'This key',
      interval: intervalOf(key.limitReset),
      limitNanoUsd: key.limitNanoUsd,
      includeByok: key.includeByokInLimit,
      status: 402,
    })
  }
  for (const { interval, limitNanoUsd, includeByok } of workspace.budgets ?? []) {
    const label = 'The budget of this workspace'
    gates.push({
      scope: 'workspace',
      id: workspace.id,
      label,
      interval,
      limitNanoUsd,
      includeByok,
      status: 403,
    })
  }
  if (key.guardrails !== undefined) gates.push(...gatesOfGuardrails(key))
  if (workspace.allowance !== undefined) {
    const { organizationId, limitNanoUsd } = workspace.allowance
    gates.push({
      scope: 'organization',
      id: organizationId,
      label: 'The allowance of the organization',
      interval: 'lifetime',
      limitNanoUsd,
      status: 402,
    })
  }
  return gates
}

/** The price of an attempt; the plan lets no endpoint through without one. */
export function pricingOf(attempt: Attempt): Pricing {
  if (!attempt.endpoint.pricing)
    throw new Error(`the endpoint ${attempt.endpoint.id} was planned without a price`)
  return attempt.endpoint.pricing
}

/**
 * Reserves the most that the request can cost at its dearest endpoint. A request without a bound of its own whose
 * longest answer does not fit is given the largest bound that does. Nothing here awaits: room and reservation are one.
 */
export function admit(
  request: InferenceRequest,
  prompt: PromptBound,
  attempts: Attempt[],
  caller: Caller,
  ledger: Ledger,
  generationId: string,
  startedAt: number,
): Admission {
  const gates = gatesOf(caller)
  const { maxOutputTokens, choiceCount: choices = 1 } = request
  const speaks = request.modalities?.includes('audio') === true
  const fit = (group: Attempt[], roomNanoUsd: number): Fitted => {
    const whole = dearest(group, prompt, maxOutputTokens, choices, speaks)
    if (whole <= roomNanoUsd) return { attempts: group, amountNanoUsd: whole, fits: true }
    const bound = largestBound(group, prompt, roomNanoUsd, choices, speaks)
    if (maxOutputTokens !== undefined || bound < LEAST_BOUND_TOKENS) {
      return { attempts: group, amountNanoUsd: whole, fits: false }
    }
    return {
      attempts: group.map((attempt) => ({ ...attempt, outputBound: bound })),
      amountNanoUsd: dearest(group, prompt, bound, choices, speaks),
      fits: true,
    }
  }
  const admitted = admitGroups(attempts, fit, { gates, ledger, generationId, startedAt }, (reserve) =>
    maxOutputTokens === undefined ? withHint(reserve) : reserve(),
  )
  return { ...admitted, promptTokensEstimate: tokensIn(prompt), promptMedia: prompt.media }
}

/** What `admit` is about to let in, in tokens. */
export const tokensOf = (request: InferenceRequest, prompt: PromptBound): TokensNeeded => ({
  prompt: tokensIn(prompt),
  output: (request.maxOutputTokens ?? 0) * (request.choiceCount ?? 1),
})

/** Attempts of one account, with the most that they can cost. */
interface Fitted {
  attempts: Attempt[]
  amountNanoUsd: number
  fits: boolean
}

interface Reserving {
  gates: readonly Gate[]
  ledger: Ledger
  generationId: string
  startedAt: number
}

/**
 * Holds the most that either account can cost: the gateway's, which every gate counts, and the workspace's own keys,
 * which only some do. Own keys stay usable where the gateway's own credentials are beyond a limit: then they are used
 * alone. What does not fit else is refused by `reserve`; `refuse` may add to its sentence.
 */
function admitGroups(
  attempts: Attempt[],
  fit: (group: Attempt[], roomNanoUsd: number) => Fitted,
  { gates, ledger, generationId, startedAt }: Reserving,
  refuse: (reserve: () => Hold) => Hold,
): { hold: Hold; attempts: Attempt[] } {
  const own = attempts.filter(({ ownKey }) => ownKey !== undefined)
  const shared = attempts.filter(({ ownKey }) => ownKey === undefined)
  const reserve = (amountNanoUsd: number, sharedNanoUsd: number | null): Hold =>
    ledger.reserve({ generationId, gates, amountNanoUsd, sharedNanoUsd, startedAt })
  const sharedFit = shared.length === 0 ? null : fit(shared, ledger.room(gates, startedAt).nanoUsd)
  if (own.length === 0) {
    const { attempts: fitted, amountNanoUsd, fits } = sharedFit ?? fit([], 0)
    const hold = () => reserve(amountNanoUsd, amountNanoUsd)
    return { hold: fits ? hold() : refuse(hold), attempts: fitted }
  }
  const counting = gates.filter(({ includeByok }) => includeByok === true)
  const ownFit = fit(own, ledger.room(counting, startedAt).nanoUsd)
  if (!ownFit.fits) return { hold: refuse(() => reserve(ownFit.amountNanoUsd, null)), attempts: own }
  if (!sharedFit?.fits) return { hold: reserve(ownFit.amountNanoUsd, null), attempts: ownFit.attempts }
  const most = Math.max(ownFit.amountNanoUsd, sharedFit.amountNanoUsd)
  return { hold: reserve(most, sharedFit.amountNanoUsd), attempts: inOrder(attempts, ownFit, sharedFit) }
}

/** The order of the plan, with the bounds of each account. */
function inOrder(attempts: readonly Attempt[], own: Fitted, shared: Fitted): Attempt[] {
  const queues = { own: [...own.attempts], shared: [...shared.attempts] }
  return attempts.flatMap(({ ownKey }) => (ownKey === undefined ? queues.shared : queues.own).shift() ?? [])
}

/** Reserves what `bound` says is the most that this request can use, at its dearest endpoint. */
export function admitUnits(
  bound: (pricing: Pricing) => Usage,
  attempts: Attempt[],
  caller: Caller,
  ledger: Ledger,
  generationId: string,
  startedAt: number,
): Admission {
  const [first] = attempts
  if (!first) throw new Error('a plan without attempts')
  const most = bound(pricingOf(first))
  const costAt = (attempt: Attempt): number =>
    costOf(bound(pricingOf(attempt)), pricingOf(attempt)).totalNanoUsd
  const fit = (group: Attempt[], roomNanoUsd: number): Fitted => {
    const amountNanoUsd = Math.max(...group.map(costAt))
    return { attempts: group, amountNanoUsd, fits: amountNanoUsd <= roomNanoUsd }
  }
  const reserving = { gates: gatesOf(caller), ledger, generationId, startedAt }
  const admitted = admitGroups(attempts, fit, reserving, (reserve) => reserve())
  return { ...admitted, promptTokensEstimate: promptTokens(most), promptOnly: inputOf(most) }
}

/** What `admitUnits` is about to let in: its callers set no bound on the answer. */
export function tokensOfUnits(
  bound: (pricing: Pricing) => Usage,
  attempts: readonly Attempt[],
): TokensNeeded {
  const most = attempts.map((attempt) => promptTokens(bound(pricingOf(attempt))))
  return { prompt: Math.max(0, ...most), output: 0 }
}

const NO_GATES: readonly Gate[] = []

/** For an answer that costs nothing, whatever its caller has left to spend. */
export const admitFree = (
  attempts: Attempt[],
  ledger: Ledger,
  generationId: string,
  startedAt: number,
): Admission => ({
  hold: ledger.reserve({ generationId, gates: NO_GATES, amountNanoUsd: 0, startedAt }),
  attempts,
  promptTokensEstimate: 0,
})

/** The longest answer, for each of the choices, that every attempt could give within `nanoUsd`. */
const largestBound = (
  attempts: readonly Attempt[],
  prompt: PromptBound,
  nanoUsd: number,
  choices: number,
  speaks: boolean,
): number => {
  const bounds = attempts.map((attempt) =>
    outputBoundWithin(pricingOf(attempt), prompt, nanoUsd, kindsOf(attempt, prompt, speaks)),
  )
  return Math.floor(Math.min(...bounds) / choices)
}

/** Sound is answered where it is asked for; a model that paints may do so unasked. */
const kindsOf = (attempt: Attempt, prompt: PromptBound, speaks: boolean): Kinds => ({
  audio: speaks,
  image: attempt.endpoint.outputModalities.includes('image'),
  writes: writingOf(attempt, prompt),
})

/** Anthropic, Bedrock and Google write what the caller marks; the others, where they write at all, what they like. */
function writingOf(
  { dialect, endpoint }: Attempt,
  { marked, mayBeApart }: PromptBound,
): CacheWriting | undefined {
  const { inputCacheWrite, inputCacheWriteHour } = endpoint.pricing ?? {}
  if (inputCacheWrite === undefined && inputCacheWriteHour === undefined) return undefined
  const writesMarked = dialect === 'messages' || dialect === 'converse' || dialect === 'gemini'
  if (marked === undefined && writesMarked) return undefined
  if (dialect === 'gemini') return mayBeApart ? 'apart' : undefined
  return marked === 'hour' ? 'for-an-hour' : 'for-minutes'
}

function dearest(
  attempts: readonly Attempt[],
  prompt: PromptBound,
  bound: number | undefined,
  choices: number,
  speaks: boolean,
): number {
  let most = 0
  for (const attempt of attempts) {
    const longest = attempt.endpoint.maxCompletionTokens ?? attempt.endpoint.contextLength
    const output = Math.min(bound ?? longest ?? UNKNOWN_BOUND_TOKENS, longest ?? Number.POSITIVE_INFINITY)
    const kinds = kindsOf(attempt, prompt, speaks)
    most = Math.max(most, holdOf(pricingOf(attempt), prompt, output * choices, kinds))
  }
  return most
}

function withHint(reserve: () => Hold): Hold {
  try {
    return reserve()
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    throw new GatewayError(
      error.status,
      `${error.message}. The request sets no max_tokens, so the model's longest answer is reserved: a smaller max_tokens needs less`,
      {
        cause: error,
        ...(error.metadata ? { metadata: error.metadata } : {}),
        headers: { ...error.headers },
      },
    )
  }
}
