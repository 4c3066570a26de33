import { GatewayError } from '../core/errors.ts'
import type { Gate } from '../core/gate.ts'
import { formatUsd } from '../core/money.ts'
import type { RefusalReason } from '../core/refusal.ts'
import type { Counters } from './counters.ts'
import type { Counted, HeldWindows } from './held-windows.ts'
import type { Amounts, Remaining } from './ledger.ts'
import { formatInstant, INTERVALS, resetsAt } from './windows.ts'

/** The remaining budget of a list of gates: limit minus settled and reserved amounts. */
export interface GateCheck {
  remaining(gates: readonly Gate[], startedAt: number): Remaining
  /** Null: the gates are open for these amounts. */
  shutBy(gates: readonly Gate[], startedAt: number, amounts: Amounts): Shut | null
  /** The counters that a request with these amounts is held against. */
  countersOf(gates: readonly Gate[], startedAt: number, amounts: Amounts): readonly Counted[]
}

/** Why a request is not admitted. */
interface Shut {
  /** The first counter whose reservations exclude the request; null: settled amounts exclude it, so waiting does not help. */
  readonly waitsAt: Counted | null
  refusal(hint?: string): GatewayError
}

/** Spending and reservations of one gate. */
interface Standing {
  readonly gate: Gate
  readonly usedNanoUsd: number
  readonly heldNanoUsd: number
}

export function createGateCheck(
  counters: Counters,
  windowsOf: (gates: readonly Gate[], at: number) => HeldWindows,
): GateCheck {
  function usedOf(gate: Gate, { key }: Counted): number {
    const spent = counters.spent(key)
    return gate.includeByok === true ? spent.usageNanoUsd + spent.byokUsageNanoUsd : spent.usageNanoUsd
  }

  return {
    remaining(gates, startedAt) {
      let nanoUsd = Number.POSITIVE_INFINITY
      let unspentNanoUsd = Number.POSITIVE_INFINITY
      let tightest: Gate | null = null
      const { counted } = windowsOf(gates, startedAt)
      for (let index = 0; index < gates.length; index++) {
        const gate = gates[index]!
        const at = counted[index]!
        // Below 0 if a reply cost more than was reserved for it.
        const unspent = gate.limitNanoUsd - usedOf(gate, at)
        unspentNanoUsd = Math.min(unspentNanoUsd, Math.max(0, unspent))
        const left = Math.max(0, unspent - at.heldNanoUsd)
        if (left >= nanoUsd) continue
        nanoUsd = left
        tightest = gate
      }
      return { nanoUsd, unspentNanoUsd, gate: tightest }
    },
    shutBy(gates, startedAt, amounts) {
      const { counted } = windowsOf(gates, startedAt)
      // The list of exhausted gates is built only if there is one.
      let closed: Standing[] | undefined
      let waitsAt: Counted | null = null
      let isInVain = false
      for (let index = 0; index < gates.length; index++) {
        const gate = gates[index]!
        const at = counted[index]!
        const needed = neededBy(gate, amounts)
        if (needed === null) continue
        const usedNanoUsd = usedOf(gate, at)
        if (gate.limitNanoUsd - usedNanoUsd - at.heldNanoUsd >= needed) continue
        closed ??= []
        closed.push({ gate, usedNanoUsd, heldNanoUsd: at.heldNanoUsd })
        waitsAt ??= at
        if (usedNanoUsd + needed > gate.limitNanoUsd) isInVain = true
      }
      if (closed === undefined) return null
      const first = broadest(closed)
      return {
        waitsAt: isInVain ? null : waitsAt,
        refusal: (hint) => refusal(first, neededBy(first.gate, amounts) ?? 0, startedAt, hint),
      }
    },
    countersOf(gates, startedAt, amounts) {
      const { counted } = windowsOf(gates, startedAt)
      return counted.filter((_, index) => (neededBy(gates[index]!, amounts) ?? 0) > 0)
    },
  }
}

/** Null: this gate admits the request without a reservation. */
const neededBy = ({ includeByok }: Gate, { amountNanoUsd, sharedNanoUsd }: Amounts): number | null =>
  includeByok === true ? amountNanoUsd : sharedNanoUsd

/** Of the closed gates, the first one's scope at its longest interval: waiting for a shorter one is in vain. */
function broadest(closed: readonly Standing[]): Standing {
  return closed.reduce((best, standing) =>
    standing.gate.scope === best.gate.scope &&
    standing.gate.id === best.gate.id &&
    INTERVALS.indexOf(standing.gate.interval) > INTERVALS.indexOf(best.gate.interval)
      ? standing
      : best,
  )
}

const REASONS = {
  key: 'key_limit',
  workspace: 'budget',
  guardrail: 'budget',
  organization: 'credits',
} as const satisfies Record<Gate['scope'], RefusalReason>

/** The message of a rejection: the limit, the used, reserved and requested amounts, and the reset. */
function refusal(standing: Standing, amountNanoUsd: number, startedAt: number, hint?: string): GatewayError {
  const { gate, usedNanoUsd, heldNanoUsd } = standing
  const interval = gate.interval === 'lifetime' ? '' : `${gate.interval} `
  const isReached = usedNanoUsd + heldNanoUsd >= gate.limitNanoUsd
  const reset = resetsAt(gate.interval, startedAt)
  const message =
    `${gate.label}'s ${interval}limit of ${formatUsd(gate.limitNanoUsd)} ` +
    `${isReached ? 'is reached' : 'leaves too little room'}: ${formatUsd(usedNanoUsd)} is used and ` +
    `${formatUsd(heldNanoUsd)} is held by running requests, and this request needs up to ${formatUsd(amountNanoUsd)}. ` +
    `${reset === null ? 'It does not reset' : `It resets at ${formatInstant(reset)}`}; a higher limit holds at once` +
    (hint === undefined ? '' : `. ${hint}`)
  return new GatewayError(gate.status, message, {
    metadata: { error_type: gate.status === 402 ? 'payment_required' : 'permission_denied' },
    refusal: {
      reason: REASONS[gate.scope],
      gate: `${gate.scope} ${gate.interval}`,
      guardrail: gate.scope === 'guardrail' ? gate.name : undefined,
    },
  })
}
