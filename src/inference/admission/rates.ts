import { createAllowances } from '../../core/allowance.ts'
import type { Attempt } from '../../core/attempt.ts'
import type { RateGate } from '../../core/rate-limits.ts'
import type { KeyRecord, Snapshot } from '../../core/snapshot.ts'
import { findVariant } from '../../core/variant.ts'
import { type RateStanding, tooMany } from './rate-refusal.ts'

/** How often keys, members and workspaces ask, how much, and how many at once. In memory alone: a start begins anew. */
export interface Rates {
  /**
   * Whether a request passes every gate of its key; throws a `GatewayError` 429 where not. Nothing is used up before
   * `take`, and without an await between the two they are one. Null: nothing bounds this key.
   */
  check(asked: RateRequest): RatePass | null
  /** Sums of what running requests hold, over all gates: 0 when nothing runs. */
  held(): number
}

interface RateRequest {
  key: KeyRecord
  snapshot: Snapshot
  /** Candidates, best first. */
  attempts: readonly Attempt[]
  /**
   * What it will use, as far as that is known before. Null: it uses none, and passes however many are left (a count, an
   * answer that is there already).
   */
  tokens: (() => TokensNeeded) | null
}

export interface TokensNeeded {
  /** Estimated. */
  prompt: number
  /** The longest answer that the caller allows; 0: it set no bound. */
  output: number
}

interface RatePass {
  /** Those whose model has room. */
  attempts: Attempt[]
  take(): RateHold
}

/** What a running request holds. It ends in exactly one `end`; a second one changes nothing. */
export interface RateHold {
  end(spent: RateSpent): void
}

interface RateSpent {
  tokens: number
  /** The model that answered, or was asked last. */
  modelId: string
  /** Further models that were asked before; absent: none. */
  triedModelIds?: readonly string[]
}

interface Claim {
  gate: RateGate
  amount: number
  /** Null: it counts whichever model is asked. */
  modelId: string | null
}

/**
 * At most this part of a token limit is reserved for a reply: few replies reach their bound, and agents set the highest
 * one. So at most ten such requests run at once, and tokens beyond the reserved part become a debt.
 */
const MOST_OF_LIMIT_FOR_ANSWER = 1 / 10

export function createRates(now: () => number): Rates {
  const allowances = createAllowances(now)
  /** What running requests hold, by the name of the gate. */
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
      // Of several models the one that is free first is waited for.
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

/** The prompt, and what of the answer's bound is taken beforehand; more than the limit only where the prompt alone is. */
function amountOf({ prompt, output }: TokensNeeded, limit: number): number {
  if (prompt > limit) return prompt
  const answer = Math.min(output, Math.floor(limit * MOST_OF_LIMIT_FOR_ANSWER))
  return Math.min(limit, Math.max(1, prompt + answer))
}

/** As the plan resolves it; undefined: no provider offers it. */
const modelIdOf = (name: string, { models, withByok }: Snapshot): string | undefined =>
  (findVariant(name, models) ?? (withByok && findVariant(name, withByok.models)))?.model.id

/** No model uses more in one request: a higher figure of a provider is an error that would block the key for years. */
const MOST_TOKENS = 10_000_000
const plausible = (tokens: number): number => Math.min(MOST_TOKENS, Math.max(0, tokens || 0))

/** What a request that has ended used of it: of tokens what was counted, and nothing of a model that was not asked. */
function usedBy({ gate, modelId }: Claim, { tokens, modelId: last, triedModelIds = [] }: RateSpent): number {
  if (gate.measure === 'tokens') return modelId === null || modelId === last ? plausible(tokens) : 0
  return modelId === null || modelId === last || triedModelIds.includes(modelId) ? 1 : 0
}

/** The longest wait decides. A gate whose end is unknown counts as open soon. */
const waitOf = ({ waitMs }: RateStanding): number => waitMs ?? 0
const longest = (standings: readonly RateStanding[]): RateStanding =>
  standings.reduce((most, standing) => (waitOf(standing) > waitOf(most) ? standing : most))
const shortest = (standings: readonly RateStanding[]): RateStanding =>
  standings.reduce((least, standing) => (waitOf(standing) < waitOf(least) ? standing : least))
