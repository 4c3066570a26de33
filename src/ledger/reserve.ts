import { badRequest } from '../core/errors.ts'
import type { Gate } from '../core/gate.ts'
import { formatUsd, MAX_NANO_USD } from '../core/money.ts'
import type { Counters } from './counters.ts'
import { createGateCheck, type GateCheck } from './gate-check.ts'
import { type HeldWindow, keepHeldWindows } from './held-windows.ts'
import type { Amounts, Hold, ReserveRequest } from './ledger.ts'
import type { ChargedScopes } from './row-values.ts'

export interface OpenHold extends Hold {
  readonly sharedNanoUsd: number | null
  readonly gates: readonly Gate[]
  /** The counters that it is held against. */
  readonly windows: readonly HeldWindow[]
  /** The further scopes that its generation is booked to. */
  readonly charged: ChargedScopes | null
  /** Its settlement, from the call of `settle` on. */
  settled: Promise<void> | null
}

/** The open holds, in memory only: a restart drops them. */
export interface Holds extends GateCheck {
  reserve(request: ReserveRequest): OpenHold
  /** Reserves without a check: in the same turn in which `shutBy` found the gates open for these amounts. */
  open(generationId: string, gates: readonly Gate[], startedAt: number, amounts: Amounts): OpenHold
  get(generationId: string): OpenHold | undefined
  /** Ends a hold; null when it was ended before. */
  end(generationId: string): OpenHold | null
  count(): number
  heldNanoUsd(): number
}

export function createHolds(counters: Counters): Holds {
  const holds = new Map<string, OpenHold>()
  const windowsOf = keepHeldWindows()
  const check = createGateCheck(counters, windowsOf)
  let heldTotal = 0

  function hold({ windows, amountNanoUsd, sharedNanoUsd }: OpenHold, sign: 1 | -1): void {
    for (const { counted, hasByok, hasShared } of windows) {
      const ofAll = hasByok ? amountNanoUsd : 0
      counted.heldNanoUsd += sign * (hasShared ? Math.max(ofAll, sharedNanoUsd ?? 0) : ofAll)
    }
    heldTotal += sign * amountNanoUsd
  }

  function open(
    generationId: string,
    gates: readonly Gate[],
    startedAt: number,
    { amountNanoUsd, sharedNanoUsd }: Amounts,
  ): OpenHold {
    if (holds.has(generationId)) throw new Error(`${generationId} already has a hold`)
    const { windows, charged } = windowsOf(gates, startedAt)
    const settled = null
    const made: OpenHold = { generationId, amountNanoUsd, sharedNanoUsd, gates, windows, charged, settled }
    holds.set(generationId, made)
    hold(made, 1)
    return made
  }

  return {
    ...check,
    open,
    reserve({ generationId, gates, amountNanoUsd, sharedNanoUsd = amountNanoUsd, startedAt }) {
      mustBeWhole(amountNanoUsd)
      mustBeWhole(sharedNanoUsd ?? 0)
      const amounts = { amountNanoUsd, sharedNanoUsd }
      const shut = check.shutBy(gates, startedAt, amounts)
      if (shut !== null) throw shut.refusal()
      return open(generationId, gates, startedAt, amounts)
    },
    get: (generationId) => holds.get(generationId),
    end(generationId) {
      const ended = holds.get(generationId)
      if (ended === undefined) return null
      holds.delete(generationId)
      hold(ended, -1)
      return ended
    },
    count: () => holds.size,
    heldNanoUsd: () => heldTotal,
  }
}

/** Throws; a 400 for more than a counter can hold: such a price was most likely meant for a million tokens. */
export function mustBeWhole(amount: number): void {
  if (amount > MAX_NANO_USD) {
    throw badRequest(
      `This request could cost more than ${formatUsd(MAX_NANO_USD)}, the largest possible reservation: a smaller max_tokens ` +
        "needs less, and the model's price must be in USD per token",
    )
  }
  if (!Number.isSafeInteger(amount) || amount < 0)
    throw new RangeError(`A hold must be an integer of nano-dollars, not ${amount}`)
}
