import { createAllowances } from '../../core/allowance.ts'
import type { Attempt } from '../../core/attempt.ts'
import { GatewayError } from '../../core/errors.ts'
import type { RateGate } from '../../core/rate-limits.ts'
import type { KeyRecord, Snapshot } from '../../core/snapshot.ts'
import { findVariant } from '../../core/variant.ts'
import { rateLimitHeaders, secondsOf } from '../../http/rate-limit.ts'

/** Rate limits of keys, members and workspaces: requests, tokens and concurrency. In memory only: a restart resets them. */
export interface Rates {
  /**
   * Checks a request against every gate of its key. Throws a `GatewayError` 429 if one is exhausted. Nothing is used
   * before `take`; call it without an `await` in between, so that both are atomic. Null if the key has no rate limits.
   */
  check(asked: RateRequest): RatePass | null
  /** The sum of all reservations over all gates: 0 if no request runs. */
  held(): number
}

interface RateRequest {
  key: KeyRecord
  snapshot: Snapshot
  /** Candidates, best first. */
  attempts: readonly Attempt[]
  /** The expected tokens. Null: it uses none, so token limits do not apply (token counts, cache hits). */
  tokens: (() => TokensNeeded) | null
}

export interface TokensNeeded {
  /** Estimated. */
  prompt: number
  /** The caller's bound on output tokens; 0 if it set none. */
  output: number
}

interface RatePass {
  /** The attempts whose models are below their limits. */
  attempts: Attempt[]
  take(): RateHold
}

/** The reservation of a running request. Further calls of `end` have no effect. */
export interface RateHold {
  end(spent: RateSpent): void
}

interface RateSpent {
  tokens: number
  /** The model of the last attempt. */
  modelId: string
  /** The models of all attempts; absent: there was none. */
  triedModelIds?: readonly string[]
}

interface Claim {
  gate: RateGate
  amount: number
  /** Null: the gate counts every model. */
  modelId: string | null
}

/**
 * At most this part of a token limit is reserved for a reply, since few replies reach their bound and agents set the
 * highest one. About ten such requests can then run at once; tokens beyond the reservation are charged afterwards.
 */
const MOST_OF_LIMIT_FOR_ANSWER = 1 / 10

export function createRates(now: () => number): Rates {
  const allowances = createAllowances(now)
  /** Reservations of running requests, by gate name. */
  const heldBy = new Map<string, number>()

  function hold({ gate, amount }: Claim, sign: 1 | -1): void {
    const held = (heldBy.get(gate.name) ?? 0) + sign * amount
    if (held === 0) heldBy.delete(gate.name)
    else heldBy.set(gate.name, held)
  }

  function standingOf({ gate, amount }: Claim): RateStanding {
    const held = heldBy.get(gate.name) ?? 0
    if (gate.measure === 'concurrent-requests')
      return { gate, amount, used: held, held, waitMs: held < gate.limit ? 0 : null }
    const waitMs =
      amount > gate.limit ? Number.POSITIVE_INFINITY : allowances.waitMs(gate.name, gate.limit, amount)
    return { gate, amount, used: allowances.used(gate.name, gate.limit), held, waitMs }
  }

  const shut = (claims: readonly Claim[]): RateStanding[] =>
    claims.map(standingOf).filter(({ waitMs }) => waitMs !== 0)

  function take(claims: readonly Claim[]): RateHold {
    for (const claim of claims) {
      hold(claim, 1)
      const { gate, amount } = claim
      if (gate.measure !== 'concurrent-requests') allowances.take(gate.name, gate.limit, amount)
    }
    let hasEnded = false
    return {
      end(spent) {
        if (hasEnded) return
        hasEnded = true
        for (const claim of claims) {
          hold(claim, -1)
          const correction = usedBy(claim, spent) - claim.amount
          if (correction !== 0 && claim.gate.measure !== 'concurrent-requests')
            allowances.take(claim.gate.name, claim.gate.limit, correction)
        }
      },
    }
  }

  return {
    check({ key: { rateGates }, snapshot, attempts, tokens }) {
      if (rateGates === undefined) return null
      const claims = claimsOf(rateGates, snapshot, tokens)
      const ofAny = claims.filter(({ modelId }) => modelId === null)
      const closed = shut(ofAny)
      if (closed.length > 0) throw tooMany(longest(closed), now())
      const shutModels = new Map<string, RateStanding>()
      for (const id of new Set(attempts.map(({ model }) => model.id))) {
        const standings = shut(claims.filter(({ modelId }) => modelId === id))
        if (standings.length > 0) shutModels.set(id, longest(standings))
      }
      const open = attempts.filter(({ model }) => !shutModels.has(model.id))
      // Report the model that is available first.
      if (open.length === 0) throw tooMany(shortest([...shutModels.values()]), now())
      const openIds = new Set(open.map(({ model }) => model.id))
      return {
        attempts: open,
        take: () => take(claims.filter(({ modelId }) => modelId === null || openIds.has(modelId))),
      }
    },
    held: () => [...heldBy.values()].reduce((sum, held) => sum + held, 0),
  }
}

function claimsOf(gates: readonly RateGate[], snapshot: Snapshot, tokens: RateRequest['tokens']): Claim[] {
  let needed: TokensNeeded | undefined
  const claims: Claim[] = []
  for (const gate of gates) {
    const modelId = gate.model === undefined ? null : modelIdOf(gate.model, snapshot)
    if (modelId === undefined) continue
    if (gate.measure !== 'tokens') claims.push({ gate, amount: 1, modelId })
    else if (tokens !== null) {
      needed ??= tokens()
      claims.push({ gate, amount: amountOf(needed, gate.limit), modelId })
    }
  }
  return claims
}

/** The tokens to reserve: the prompt and part of the output bound. Exceeds the limit only if the prompt alone does. */
function amountOf({ prompt, output }: TokensNeeded, limit: number): number {
  if (prompt > limit) return prompt
  const answer = Math.min(output, Math.floor(limit * MOST_OF_LIMIT_FOR_ANSWER))
  return Math.min(limit, Math.max(1, prompt + answer))
}

/** Resolves a name as the plan does; undefined if no provider offers the model. */
const modelIdOf = (name: string, { models, withByok }: Snapshot): string | undefined =>
  (findVariant(name, models) ?? (withByok && findVariant(name, withByok.models)))?.model.id

/** More than any model uses in one request. A higher reported figure is wrong, and would block the key for years. */
const MOST_TOKENS = 10_000_000
const plausible = (tokens: number): number => Math.min(MOST_TOKENS, Math.max(0, tokens || 0))

/** The usage of a finished request at one gate; 0 if the gate is for a model that was not called. */
function usedBy({ gate, modelId }: Claim, { tokens, modelId: last, triedModelIds = [] }: RateSpent): number {
  if (gate.measure === 'tokens') return modelId === null || modelId === last ? plausible(tokens) : 0
  return modelId === null || modelId === last || triedModelIds.includes(modelId) ? 1 : 0
}

/** A gate whose wait is unknown counts as available soon. */
const waitOf = ({ waitMs }: RateStanding): number => waitMs ?? 0
const longest = (standings: readonly RateStanding[]): RateStanding =>
  standings.reduce((most, standing) => (waitOf(standing) > waitOf(most) ? standing : most))
const shortest = (standings: readonly RateStanding[]): RateStanding =>
  standings.reduce((least, standing) => (waitOf(standing) < waitOf(least) ? standing : least))

/** The state of one gate for a request. */
interface RateStanding {
  readonly gate: RateGate
  /** Requests or tokens that this request needs. */
  readonly amount: number
  /** The used amount, including reservations of running requests. */
  readonly used: number
  /** The part of `used` that running requests reserve. */
  readonly held: number
  /** 0: the request fits. Null: it fits once a running request ends. Infinity: it never fits. */
  readonly waitMs: number | null
}

/** Retry-After while the gate waits for a running request, whose end is unknown. */
const RETRY_MS = 1_000

/** The 429 of a gate, with its owner, limit, usage and wait. `at` is in milliseconds. */
function tooMany(standing: RateStanding, at: number): GatewayError {
  const { gate, used, waitMs } = standing
  return new GatewayError(429, sentence(standing), {
    metadata: { error_type: 'rate_limit_exceeded' },
    refusal: { reason: 'rate', gate: gate.measure },
    headers: rateLimitHeaders({
      policy: gate.measure,
      limit: gate.limit,
      remaining: Math.max(0, gate.limit - rounded(used)),
      waitMs: waitMs ?? RETRY_MS,
      at,
      isPerMinute: gate.measure !== 'concurrent-requests',
    }),
  })
}

function sentence(standing: RateStanding): string {
  const { gate, amount, used, held, waitMs } = standing
  const { label, limit } = gate
  const model = gate.model === undefined ? '' : ` of ${gate.model}`
  if (waitMs === null) {
    return `${label} may have ${formatCount(limit, 'request')} running at once, and ${formatCount(used)} are. The next one is taken when one of them has ended; ${RAISED}`
  }
  if (gate.measure === 'requests') {
    return `${label} may make ${formatCount(limit, 'request')}${model} a minute; used up: ${formatCount(rounded(used))}, still running: ${formatCount(held)}. The next one is taken in ${secondsOf(waitMs)} s; ${RAISED}`
  }
  if (waitMs === Number.POSITIVE_INFINITY) {
    return `${label} may use ${formatCount(limit, 'token')}${model} a minute, and this prompt alone is about ${formatCount(amount)}: waiting does not help, a shorter prompt does; ${RAISED}`
  }
  return `${label} may use ${formatCount(limit, 'token')}${model} a minute; used up: ${formatCount(rounded(used))}, of that held by running requests: ${formatCount(held)}, needed: ${formatCount(amount)}. It is taken in ${secondsOf(waitMs)} s; ${RAISED}`
}

const RAISED = 'a higher limit holds at once'

/** Partially refilled units do not count as available. */
const rounded = (used: number): number => Math.ceil(used - 1e-6)

const formatCount = (count: number, unit?: string): string => {
  const number = count.toLocaleString('en')
  return unit === undefined ? number : `${number} ${unit}${count === 1 ? '' : 's'}`
}
