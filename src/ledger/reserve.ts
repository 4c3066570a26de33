import { GatewayError } from '../core/errors.ts'
import type { Gate } from '../core/gate.ts'
import { sayUsd } from '../core/money.ts'
import { type Counters, keepCounterKeys, nameOf } from './counters.ts'
import type { Hold, ReserveRequest, Room } from './ledger.ts'
import { INTERVALS, resetsAt, sayInstant } from './windows.ts'

export interface OpenHold extends Hold {
  readonly gates: readonly Gate[]
  /** How much is held against which counter, by its name. */
  readonly windows: ReadonlyMap<string, number>
}

/** The open holds, in memory alone: a start begins with none. */
export interface Holds {
  room(gates: readonly Gate[], startedAt: number): Room
  reserve(request: ReserveRequest): OpenHold
  get(generationId: string): OpenHold | undefined
  /** Ends a hold; false when it was ended before. */
  end(generationId: string): boolean
  count(): number
  heldNanoUsd(): number
}

/** What stands against one gate. */
interface Standing {
  readonly gate: Gate
  readonly window: string
  readonly usedNanoUsd: number
  readonly heldNanoUsd: number
  /** Below 0 where a reply cost more than was held for it. */
  readonly roomNanoUsd: number
}

export function createHolds(counters: Counters): Holds {
  const open = new Map<string, OpenHold>()
  const heldByWindow = new Map<string, number>()
  let heldTotal = 0
  const keyOf = keepCounterKeys()

  function standingOf(gate: Gate, at: number): Standing {
    const key = keyOf(gate.scope, gate.id, gate.interval, at)
    const spent = counters.spent(key)
    const usedNanoUsd = spent.usageNanoUsd + (gate.includeByok === true ? spent.byokUsageNanoUsd : 0)
    const window = nameOf(key)
    const heldNanoUsd = heldByWindow.get(window) ?? 0
    return {
      gate,
      window,
      usedNanoUsd,
      heldNanoUsd,
      roomNanoUsd: gate.limitNanoUsd - usedNanoUsd - heldNanoUsd,
    }
  }

  function hold(window: string, amountNanoUsd: number): void {
    const held = (heldByWindow.get(window) ?? 0) + amountNanoUsd
    if (held === 0) heldByWindow.delete(window)
    else heldByWindow.set(window, held)
  }

  return {
    room(gates, startedAt) {
      let tightest: Room = { nanoUsd: Number.POSITIVE_INFINITY, gate: null }
      for (const gate of gates) {
        const nanoUsd = Math.max(0, standingOf(gate, startedAt).roomNanoUsd)
        if (nanoUsd < tightest.nanoUsd) tightest = { nanoUsd, gate }
      }
      return tightest
    },
    reserve({ generationId, gates, amountNanoUsd, sharedNanoUsd = amountNanoUsd, startedAt }) {
      for (const amount of [amountNanoUsd, sharedNanoUsd ?? 0]) {
        if (!Number.isSafeInteger(amount) || amount < 0)
          throw new RangeError(`A hold is a whole number of nano-dollars, not ${amount}`)
      }
      if (open.has(generationId)) throw new Error(`${generationId} has a hold already`)
      const neededBy = (gate: Gate) => (gate.includeByok === true ? amountNanoUsd : sharedNanoUsd)
      const standings = gates.flatMap((gate) => {
        const needed = neededBy(gate)
        return needed === null ? [] : [{ ...standingOf(gate, startedAt), needed }]
      })
      const closed = standings.filter(({ roomNanoUsd, needed }) => roomNanoUsd < needed)
      if (closed.length > 0) {
        const first = broadest(closed)
        throw refusal(first, neededBy(first.gate) ?? 0, startedAt)
      }

      // The same counter behind two gates is held once.
      const windows = new Map<string, number>()
      for (const { window, needed } of standings)
        windows.set(window, Math.max(needed, windows.get(window) ?? 0))
      const made: OpenHold = { generationId, amountNanoUsd, sharedNanoUsd, gates, windows }
      open.set(generationId, made)
      for (const [window, amount] of windows) hold(window, amount)
      heldTotal += amountNanoUsd
      return made
    },
    get: (generationId) => open.get(generationId),
    end(generationId) {
      const ended = open.get(generationId)
      if (ended === undefined) return false
      open.delete(generationId)
      for (const [window, amount] of ended.windows) hold(window, -amount)
      heldTotal -= ended.amountNanoUsd
      return true
    },
    count: () => open.size,
    heldNanoUsd: () => heldTotal,
  }
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

/** The sentence of a refusal: which limit, what is used, what is held, what was asked for, and when it resets. */
function refusal(standing: Standing, amountNanoUsd: number, startedAt: number): GatewayError {
  const { gate, usedNanoUsd, heldNanoUsd } = standing
  const interval = gate.interval === 'lifetime' ? '' : `${gate.interval} `
  const isReached = usedNanoUsd + heldNanoUsd >= gate.limitNanoUsd
  const reset = resetsAt(gate.interval, startedAt)
  const message =
    `${gate.label}'s ${interval}limit of ${sayUsd(gate.limitNanoUsd)} ` +
    `${isReached ? 'is reached' : 'leaves too little room'}: ${sayUsd(usedNanoUsd)} is used and ` +
    `${sayUsd(heldNanoUsd)} is held by running requests, and this request needs up to ${sayUsd(amountNanoUsd)}. ` +
    `${reset === null ? 'It does not reset' : `It resets at ${sayInstant(reset)}`}; a higher limit holds at once`
  return new GatewayError(gate.status, message, {
    metadata: { error_type: gate.status === 402 ? 'payment_required' : 'permission_denied' },
  })
}
