import type { Gate } from '../core/gate.ts'
import { type CounterKey, counterKey, nameOf } from './counter-key.ts'
import { type ChargedScopes, chargedScopes } from './row-values.ts'
import { windowStart } from './windows.ts'

/** One counter and what running requests hold against it: the same object for every gate that looks at it. */
export interface Counted {
  readonly key: CounterKey
  heldNanoUsd: number
  /** Requests that wait for reservations here to end. */
  waiters: number
}

/** A counter that a list of gates looks at, once however many of them do. */
export interface HeldWindow {
  readonly counted: Counted
  /** A gate that counts own-key (BYOK) spending too looks at it. */
  hasByok: boolean
  /** A gate that does not looks at it. */
  hasShared: boolean
}

export interface HeldWindows {
  /** By the place of the gate in its list. */
  readonly counted: readonly Counted[]
  readonly windows: readonly HeldWindow[]
  /** The gates whose counters not every generation books to: rows name them, so that `verify` can sum them. */
  readonly charged: ChargedScopes | null
}

interface Kept extends HeldWindows {
  readonly day: number
  readonly clearings: number
}

const NONE: HeldWindows = { counted: [], windows: [], charged: null }

const KEPT_COUNTERS = 10_000

/**
 * The counters that the gates of a list look at, found once for each list and day: requests of one key come with the
 * same list, and finding the counters for each request was most of what gates cost.
 */
export function keepHeldWindows(): (gates: readonly Gate[], at: number) => HeldWindows {
  const byName = new Map<string, Counted>()
  const byList = new WeakMap<readonly Gate[], Kept>()
  let clearAbove = KEPT_COUNTERS
  let clearings = 0

  /** Removes gates without reservations and rebuilds every list, so that no list refers to a removed gate. */
  function clear(): void {
    for (const [name, { heldNanoUsd, waiters }] of byName)
      if (heldNanoUsd === 0 && waiters === 0) byName.delete(name)
    clearAbove = Math.max(KEPT_COUNTERS, 2 * byName.size)
    clearings += 1
  }

  function countedOf({ scope, id, interval }: Gate, at: number): Counted {
    const key = counterKey(scope, id, interval, at)
    const name = nameOf(key)
    const known = byName.get(name)
    if (known !== undefined) return known
    const counted = { key: { ...key, name }, heldNanoUsd: 0, waiters: 0 }
    byName.set(name, counted)
    return counted
  }

  return (gates, at) => {
    if (gates.length === 0) return NONE
    const day = windowStart('daily', at)
    const known = byList.get(gates)
    if (known !== undefined && known.day === day && known.clearings === clearings) return known
    if (byName.size > clearAbove) clear()
    const counted = gates.map((gate) => countedOf(gate, at))
    const made = { counted, windows: distinct(gates, counted), charged: chargedBy(gates), day, clearings }
    byList.set(gates, made)
    return made
  }
}

function distinct(gates: readonly Gate[], counted: readonly Counted[]): HeldWindow[] {
  const windows = new Map<Counted, HeldWindow>()
  for (const [index, each] of counted.entries()) {
    const window = windows.get(each) ?? { counted: each, hasByok: false, hasShared: false }
    if (gates[index]?.includeByok === true) window.hasByok = true
    else window.hasShared = true
    windows.set(each, window)
  }
  return [...windows.values()]
}

function chargedBy(gates: readonly Gate[]): ChargedScopes | null {
  const ids = new Set(gates.filter(({ scope }) => scope === 'guardrail').map(({ id }) => id))
  return chargedScopes([...ids].map((id) => ({ scope: 'guardrail', id })))
}
