import type { Attempt } from '../core/attempt.ts'
import type { Caller } from '../core/caller.ts'
import { GatewayError } from '../core/errors.ts'
import { type Gate, intervalOf } from '../core/gate.ts'
import { gatesOfGuardrails } from '../core/guardrail.ts'
import type { InferenceRequest } from '../core/request.ts'
import type { Pricing } from '../core/snapshot.ts'
import { inputOf, promptTokens, type Usage } from '../core/usage.ts'
import type { Hold, Ledger } from '../ledger/ledger.ts'
import { estimatePromptTokens } from './estimate.ts'
import { costOf, holdOf, outputBoundWithin } from './price.ts'

export interface Admission {
  hold: Hold
  /** With the bound that money sets, where it sets one. */
  attempts: Attempt[]
  promptTokensEstimate: number
  /** What is charged when the process dies before the answer; absent: the prompt's tokens. */
  promptOnly?: Usage
  /** The bound that is sent although the caller set none; null: the caller's own, or none. */
  outputBound: number | null
}

/** Answers that are bounded by nothing we know of are held for at this length. */
const UNKNOWN_BOUND_TOKENS = 16_384
/** A shorter answer than this is not worth sending in place of a refusal. */
const LEAST_BOUND_TOKENS = 1_024

/** Every bound on this caller's spending: the key's limit, the budgets of workspace and guardrails, the allowance. */
export function gatesOf({ key, workspace }: Caller): Gate[] {
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
  attempts: Attempt[],
  caller: Caller,
  ledger: Ledger,
  generationId: string,
  startedAt: number,
): Admission {
  const gates = gatesOf(caller)
  const prompt = estimatePromptTokens(request)
  const reserve = (amountNanoUsd: number): Hold =>
    ledger.reserve({ generationId, gates, amountNanoUsd, startedAt })
  const choices = request.choiceCount ?? 1
  const whole = dearest(attempts, prompt, request.maxOutputTokens, choices)
  const room = ledger.room(gates, startedAt)
  if (whole <= room.nanoUsd || request.maxOutputTokens !== undefined) {
    return { hold: reserve(whole), attempts, promptTokensEstimate: prompt, outputBound: null }
  }
  const fitting = largestBound(attempts, prompt, room.nanoUsd, choices)
  if (fitting < LEAST_BOUND_TOKENS) throw withHint(() => reserve(whole))
  const bounded = attempts.map((attempt) => ({ ...attempt, outputBound: fitting }))
  return {
    hold: reserve(dearest(attempts, prompt, fitting, choices)),
    attempts: bounded,
    promptTokensEstimate: prompt,
    outputBound: fitting,
  }
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
  const amountNanoUsd = Math.max(
    ...attempts.map((attempt) => costOf(bound(pricingOf(attempt)), pricingOf(attempt)).totalNanoUsd),
  )
  const hold = ledger.reserve({ generationId, gates: gatesOf(caller), amountNanoUsd, startedAt })
  return {
    hold,
    attempts,
    promptTokensEstimate: promptTokens(most),
    promptOnly: inputOf(most),
    outputBound: null,
  }
}

/** The longest answer, for each of the choices, that every attempt could give within `nanoUsd`. */
const largestBound = (
  attempts: readonly Attempt[],
  promptTokens: number,
  nanoUsd: number,
  choices: number,
): number =>
  Math.floor(
    Math.min(...attempts.map((attempt) => outputBoundWithin(pricingOf(attempt), promptTokens, nanoUsd))) /
      choices,
  )

function dearest(
  attempts: readonly Attempt[],
  promptTokens: number,
  bound: number | undefined,
  choices: number,
): number {
  let most = 0
  for (const attempt of attempts) {
    const longest = attempt.endpoint.maxCompletionTokens ?? attempt.endpoint.contextLength
    const output = Math.min(bound ?? longest ?? UNKNOWN_BOUND_TOKENS, longest ?? Number.POSITIVE_INFINITY)
    most = Math.max(most, holdOf(pricingOf(attempt), promptTokens, output * choices))
  }
  return most
}

function withHint(refusal: () => unknown): unknown {
  try {
    refusal()
  } catch (error) {
    if (!(error instanceof GatewayError)) return error
    return new GatewayError(
      error.status,
      `${error.message}. The request sets no max_tokens, so the model's longest answer is reserved: a smaller max_tokens needs less`,
      {
        cause: error,
        ...(error.metadata ? { metadata: error.metadata } : {}),
        headers: { ...error.headers },
      },
    )
  }
  return new Error('a reservation was expected to be refused')
}
