/**
 * The simplest ledger that can be right: a list of what was asked for, summed anew for each question. It knows nothing
 * of counters, windows or rollups of the real one, and finds windows by the calendar.
 */
import type { Gate, Interval } from '../../src/core/gate.ts'
import type { Hold } from '../../src/ledger/ledger.ts'

export interface Entry {
  readonly key: string
  readonly workspace: string
  readonly startedAt: number
  /** What gates hold that count own-key spending; all others hold `shared`, or nothing at all. */
  readonly amount: number
  readonly shared: number | null
  readonly gates: readonly Gate[]
  readonly hold: Hold
  state: 'held' | 'settling' | 'settled' | 'released'
  cost: number
  isByok: boolean
}

export interface Sum {
  usage: number
  byok: number
}

/** `2028-02-29`, the Monday of its week, `2028-02`, or nothing: what all instants of one window have in common. */
export function windowName(interval: Interval, at: number): string {
  const date = new Date(at)
  if (interval === 'lifetime') return ''
  if (interval === 'monthly') return date.toISOString().slice(0, 7)
  if (interval === 'weekly') date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7))
  return date.toISOString().slice(0, 10)
}

/** What the organisation spent before, by `interval|window`: it is booked nowhere but in its workspaces. */
export type Before = Map<string, Sum>

const isOpen = ({ state }: Entry): boolean => state === 'held' || state === 'settling'

function isBookedTo(entry: Entry, { scope, id }: Pick<Gate, 'scope' | 'id'>): boolean {
  if (scope === 'key') return entry.key === id
  if (scope === 'workspace') return entry.workspace === id
  if (scope === 'organization') return true
  return entry.gates.some((gate) => gate.scope === scope && gate.id === id)
}

/** Settled by one scope in the window of `interval` that holds `at`. */
export function spentBy(
  entries: readonly Entry[],
  scope: Pick<Gate, 'scope' | 'id'>,
  interval: Interval,
  at: number,
): Sum {
  const window = windowName(interval, at)
  const sum = { usage: 0, byok: 0 }
  for (const entry of entries) {
    if (entry.state !== 'settled' || !isBookedTo(entry, scope)) continue
    if (windowName(interval, entry.startedAt) === window) sum[entry.isByok ? 'byok' : 'usage'] += entry.cost
  }
  return sum
}

export function usedOf(entries: readonly Entry[], before: Before, gate: Gate, at: number): number {
  const sum = spentBy(entries, gate, gate.interval, at)
  const earlier =
    gate.scope === 'organization'
      ? before.get(`${gate.interval}|${windowName(gate.interval, at)}`)
      : undefined
  const usage = sum.usage + (earlier?.usage ?? 0)
  return gate.includeByok === true ? usage + sum.byok + (earlier?.byok ?? 0) : usage
}

/** Null: this gate lets it through whatever is left. */
export const neededBy = (gate: Gate, { amount, shared }: Pick<Entry, 'amount' | 'shared'>): number | null =>
  gate.includeByok === true ? amount : shared

export function heldAgainst(entries: readonly Entry[], gate: Gate, at: number): number {
  let held = 0
  for (const entry of entries) {
    if (!isOpen(entry)) continue
    if (windowName(gate.interval, entry.startedAt) !== windowName(gate.interval, at)) continue
    const ofScope = entry.gates.filter(({ scope, id }) => scope === gate.scope && id === gate.id)
    const same = ofScope.filter(({ interval }) => interval === gate.interval)
    // A request also holds in the intervals that its gates do not have: a limit may change its interval.
    const holding = same.length > 0 ? same : ofScope
    held += Math.max(0, ...holding.map((one) => neededBy(one, entry) ?? 0))
  }
  return held
}

export const heldInAll = (entries: readonly Entry[]): number =>
  entries.filter(isOpen).reduce((sum, { amount }) => sum + amount, 0)

/** Adds what an interleaving has settled to what the organisation spent before the next one. */
export function remember(before: Before, entries: readonly Entry[], intervals: readonly Interval[]): void {
  for (const entry of entries) {
    if (entry.state !== 'settled') continue
    for (const interval of intervals) {
      const name = `${interval}|${windowName(interval, entry.startedAt)}`
      const sum = before.get(name) ?? { usage: 0, byok: 0 }
      sum[entry.isByok ? 'byok' : 'usage'] += entry.cost
      before.set(name, sum)
    }
  }
}

/** Sums of settled requests by what `nameOf` gives for each, in its order. */
export function settledBy(
  entries: readonly Entry[],
  nameOf: (entry: Entry) => string,
): Record<string, Sum & { requests: number }> {
  const sums: Record<string, Sum & { requests: number }> = {}
  for (const entry of entries) {
    if (entry.state !== 'settled') continue
    const name = nameOf(entry)
    const sum = sums[name] ?? { usage: 0, byok: 0, requests: 0 }
    sum[entry.isByok ? 'byok' : 'usage'] += entry.cost
    sum.requests += 1
    sums[name] = sum
  }
  return sums
}
