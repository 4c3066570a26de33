import { badRequest, GatewayError } from '../core/errors.ts'
import type { Gate } from '../core/gate.ts'
import { formatUsd, MAX_NANO_USD } from '../core/money.ts'
import type { Counters } from './counters.ts'
import { type Counted, type HeldWindow, keepHeldWindows } from './held-windows.ts'
import type { Amounts, Hold, ReserveRequest, Room } from './ledger.ts'
import type { ChargedScopes } from './row-values.ts'
import { formatInstant, INTERVALS, resetsAt } from './windows.ts'

export interface OpenHold extends Hold {
  readonly sharedNanoUsd: number | null
  readonly gates: readonly Gate[]
  /** What it is held against. */
  readonly windows: readonly HeldWindow[]
  /** What else its generation is booked to. */
  readonly charged: ChargedScopes | null
  /** Its settlement, once it is on its way. */
  settled: Promise<void> | null
}

/** The open holds, in memory only: a restart drops them. */
export interface Holds {
  room(gates: readonly Gate[], startedAt: number): Room
  reserve(request: ReserveRequest): OpenHold
  /** Reserves without asking the gates: in the same turn in which `shutBy` found them open for these amounts. */
  open(generationId: string, gates: readonly Gate[], startedAt: number, amounts: Amounts): OpenHold
  /** Null: the gates are open for these amounts. */
  shutBy(gates: readonly Gate[], startedAt: number, amounts: Amounts): Shut | null
  /** The counters that a request with these amounts is held against. */
  countersOf(gates: readonly Gate[], startedAt: number, amounts: Amounts): readonly Counted[]
  get(generationId: string): OpenHold | undefined
  /** Ends a hold; null when it was ended before. */
  end(generationId: string): OpenHold | null
  count(): number
  heldNanoUsd(): number
}

/** Why a request is not let in. */
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

export function createHolds(counters: Counters): Holds {
  const open = new Map<string, OpenHold>()
  const windowsOf = keepHeldWindows()
  let heldTotal = 0

  function usedOf(gate: Gate, { key }: Counted): number {
    const spent = counters.spent(key)
    return gate.includeByok === true ? spent.usageNanoUsd + spent.byokUsageNanoUsd : spent.usageNanoUsd
  }

  /** Below 0 where a reply cost more than was held for it. */
  const roomOf = (gate: Gate, counted: Counted): number =>
    gate.limitNanoUsd - usedOf(gate, counted) - counted.heldNanoUsd

  function hold({ windows, amountNanoUsd, sharedNanoUsd }: OpenHold, sign: 1 | -1): void {
    for (const { counted, hasByok, hasShared } of windows) {
      const ofAll = hasByok ? amountNanoUsd : 0
      counted.heldNanoUsd += sign * (hasShared ? Math.max(ofAll, sharedNanoUsd ?? 0) : ofAll)
    }
  }

  function shutBy(gates: readonly Gate[], startedAt: number, amounts: Amounts): Shut | null {
    const { counted } = windowsOf(gates, startedAt)
    // The list of exhausted gates is built only if there is one.
    let closed: Standing[] | undefined
    let waitsAt: Counted | null = null
    let isInVain = false
    for (let index = 0; index < gates.length; index++) {
      const gate = gates[index]!
      const at = counted[index]!
      const needed = neededBy(gate, amounts)
      if (needed === null || roomOf(gate, at) >= needed) continue
      const usedNanoUsd = usedOf(gate, at)
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
  }

  function openHold(
    generationId: string,
    gates: readonly Gate[],
    startedAt: number,
    { amountNanoUsd, sharedNanoUsd }: Amounts,
  ): OpenHold {
    if (open.has(generationId)) throw new Error(`${generationId} has a hold already`)
    const { windows, charged } = windowsOf(gates, startedAt)
    const settled = null
    const made: OpenHold = { generationId, amountNanoUsd, sharedNanoUsd, gates, windows, charged, settled }
    open.set(generationId, made)
    hold(made, 1)
    heldTotal += amountNanoUsd
    return made
  }

  return {
    open: openHold,
    room(gates, startedAt) {
      let nanoUsd = Number.POSITIVE_INFINITY
      let unspentNanoUsd = Number.POSITIVE_INFINITY
      let tightest: Gate | null = null
      const { counted } = windowsOf(gates, startedAt)
      for (let index = 0; index < gates.length; index++) {
        const gate = gates[index]!
        const at = counted[index]!
        const unspent = Math.max(0, gate.limitNanoUsd - usedOf(gate, at))
        if (unspent < unspentNanoUsd) unspentNanoUsd = unspent
        const left = Math.max(0, roomOf(gate, at))
        if (left >= nanoUsd) continue
        nanoUsd = left
        tightest = gate
      }
      return { nanoUsd, unspentNanoUsd, gate: tightest }
    },
    shutBy,
    countersOf(gates, startedAt, amounts) {
      const { counted } = windowsOf(gates, startedAt)
      return counted.filter((_, index) => (neededBy(gates[index]!, amounts) ?? 0) > 0)
    },
    reserve({ generationId, gates, amountNanoUsd, sharedNanoUsd = amountNanoUsd, startedAt }) {
      mustBeWhole(amountNanoUsd)
      mustBeWhole(sharedNanoUsd ?? 0)
      const amounts = { amountNanoUsd, sharedNanoUsd }
      const shut = shutBy(gates, startedAt, amounts)
      if (shut !== null) throw shut.refusal()
      return openHold(generationId, gates, startedAt, amounts)
    },
    get: (generationId) => open.get(generationId),
    end(generationId) {
      const ended = open.get(generationId)
      if (ended === undefined) return null
      open.delete(generationId)
      hold(ended, -1)
      heldTotal -= ended.amountNanoUsd
      return ended
    },
    count: () => open.size,
    heldNanoUsd: () => heldTotal,
  }
}

/** Null: this gate admits the request without a reservation. */
const neededBy = ({ includeByok }: Gate, { amountNanoUsd, sharedNanoUsd }: Amounts): number | null =>
  includeByok === true ? amountNanoUsd : sharedNanoUsd

/** Throws; a 400 for more than a counter can hold: such a price was most likely meant for a million tokens. */
export function mustBeWhole(amount: number): void {
  if (amount > MAX_NANO_USD) {
    throw badRequest(
      `This request could cost more than ${formatUsd(MAX_NANO_USD)}, the most that is ever held: a smaller max_tokens ` +
        "needs less, and the model's price must be in USD per token",
    )
  }
  if (!Number.isSafeInteger(amount) || amount < 0)
    throw new RangeError(`A hold must be an integer of nano-dollars, not ${amount}`)
}

/** Of the gates that are shut, the first one's scope, at its longest interval: waiting for a shorter one is in vain. */
function broadest(closed: readonly Standing[]): Standing {
  return closed.reduce((best, standing) =>
    standing.gate.scope === best.gate.scope &&
    standing.gate.id === best.gate.id &&
    INTERVALS.indexOf(standing.gate.interval) > INTERVALS.indexOf(best.gate.interval)
      ? standing
      : best,
  )
}

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
  })
}
