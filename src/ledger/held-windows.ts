import type { Gate, Interval } from '../core/gate.ts'
import { type CounterKey, counterKey, nameOf } from './counter-key.ts'
import { type ChargedScopes, chargedScopes } from './row-values.ts'
import { INTERVALS, windowStart } from './windows.ts'

/** One counter and what running requests hold against it: the same object for every gate that looks at it. */
export interface Counted {
  readonly key: CounterKey
  heldNanoUsd: number
  /** Requests that wait for reservations here to end. */
  waiters: number
}

/** A counter that reservations are held against, once however many gates of a list look at it. */
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
  /** Of every interval of their scopes, so that a limit whose interval changes counts the requests that run. */
  readonly windows: readonly HeldWindow[]
  /** The gates whose counters not every generation books to: rows name them, so that `verify` can sum them. */
  readonly charged: ChargedScopes | null
}

interface Kept extends HeldWindows {
  readonly day: number
  readonly clearings: number
}

const NONE: HeldWindows = { counted: [], windows: [], charged: null }

const KEPT_COUNTERS = 40_000

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

  function countedOf({ scope, id }: Gate, interval: Interval, at: number): Counted {
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
    const counted = gates.map((gate) => countedOf(gate, gate.interval, at))
    const windows = new Map<Counted, HeldWindow>()
    for (const [index, each] of counted.entries()) addTo(windows, each, gates[index])
    const others = new Map<Counted, HeldWindow>()
    for (const gate of gates) {
      for (const interval of INTERVALS) {
        const other = countedOf(gate, interval, at)
        if (!windows.has(other)) addTo(others, other, gate)
      }
    }
    const held = [...windows.values(), ...others.values()]
    const made = { counted, windows: held, charged: chargedBy(gates), day, clearings }
    byList.set(gates, made)
    return made
  }
}

function addTo(windows: Map<Counted, HeldWindow>, counted: Counted, gate: Gate | undefined): void {
  const window = windows.get(counted) ?? { counted, hasByok: false, hasShared: false }
  if (gate?.includeByok === true) window.hasByok = true
  else window.hasShared = true
  windows.set(counted, window)
}

function chargedBy(gates: readonly Gate[]): ChargedScopes | null {
  const ids = new Set(gates.filter(({ scope }) => scope === 'guardrail').map(({ id }) => id))
  return chargedScopes([...ids].map((id) => ({ scope: 'guardrail', id })))
}
