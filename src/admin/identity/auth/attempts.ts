import { GatewayError } from '../../../core/errors.ts'
import { neverBack } from '../../../core/never-back.ts'

/** One attempt to sign in that may go on. */
export interface Attempt {
  /** Failures of this account in the window, before this attempt. */
  readonly failures: number
  /** The password was right: forgets the failures of the account. */
  succeed(): void
}

type Refusal = {
  readonly retryAfterSeconds: number
  readonly failures: number
  /** The first refusal of this account in the window: the one for the audit log. */
  readonly isFirst: boolean
}

export interface Attempts {
  /**
   * Counts an attempt before the password is looked at, so that many at once are no way around the limit. The same
   * for accounts that exist and those that do not.
   */
  begin(account: string, address: string | null): Attempt | Refusal
}

const WINDOW_MS = 15 * 60_000
/** Strangers cannot lock out a person who signs in from elsewhere with the first, nor guess from many places with the last. */
const LIMITS = { pair: 5, address: 30, account: 100 } as const
/** Of each kind: some megabytes of memory. */
const MOST_COUNTED = 30_000

interface Count {
  failures: number
  refusals: number
  /** Milliseconds, on the clock that never goes back. */
  until: number
}

/**
 * Failed sign-ins in memory: per account and address, per address, per account. A refused attempt makes no counter, and
 * a counter that has reached its limit stays for its window, so that no number of attempts makes the limiter
 * forget. `now` in milliseconds since 1970; a clock that is set back makes no window longer.
 */
export function createAttempts(now: () => number, mostCounted = MOST_COUNTED): Attempts {
  const steady = neverBack(now)
  const ofPair = createCounts(LIMITS.pair, mostCounted)
  const ofAddress = createCounts(LIMITS.address, mostCounted)
  const ofAccount = createCounts(LIMITS.account, mostCounted)
  return {
    begin(account, address) {
      const at = steady()
      const place = placeOf(address)
      const counted = [
        { counts: ofPair, key: `${place} ${account}` },
        { counts: ofAddress, key: place },
        { counts: ofAccount, key: account },
      ]
      const failures = ofAccount.find(account, at)?.failures ?? 0
      const full = counted.flatMap(({ counts, key }) => {
        const count = counts.find(key, at)
        return count !== null && count.failures >= counts.limit ? [{ counts, count }] : []
      })
      if (full.length > 0) {
        const until = Math.max(...full.map(({ count }) => count.until))
        const isFirst = full.some(({ counts, count }) => counts !== ofAddress && count.refusals === 0)
        for (const { count } of full) count.refusals++
        return { retryAfterSeconds: Math.max(1, Math.ceil((until - at) / 1000)), failures, isFirst }
      }
      if (!counted.every(({ counts, key }) => counts.canCount(key, at)))
        return { retryAfterSeconds: CROWDED_SECONDS, failures, isFirst: false }
      for (const { counts, key } of counted) counts.add(key, at)
      return {
        failures,
        succeed() {
          ofPair.forget(`${place} ${account}`)
          ofAccount.forget(account)
          ofAddress.subtract(place)
        },
      }
    },
  }
}

/** Every counter is at its limit: that takes hours of all cores, and no new account can be counted until one ends. */
const CROWDED_SECONDS = 60

interface Counts {
  readonly limit: number
  /** Null: no counter, or its window has ended. */
  find(key: string, at: number): Count | null
  /** True if this key has a counter or can have one. Makes room if that removes no counter that is at its limit. */
  canCount(key: string, at: number): boolean
  add(key: string, at: number): void
  forget(key: string): void
  subtract(key: string): void
}

function createCounts(limit: number, most: number): Counts {
  const counts = new Map<string, Count>()
  const find = (key: string, at: number): Count | null => {
    const known = counts.get(key)
    return known !== undefined && known.until > at ? known : null
  }
  return {
    limit,
    find,
    canCount(key, at) {
      if (counts.size >= most && !counts.has(key)) makeRoom(counts, limit, at)
      return counts.size < most || counts.has(key)
    },
    add(key, at) {
      const known = find(key, at)
      if (known !== null) known.failures++
      else {
        // Put at the end: of equal ones the oldest go first.
        counts.delete(key)
        counts.set(key, { failures: 1, refusals: 0, until: at + WINDOW_MS })
      }
    },
    forget: (key) => void counts.delete(key),
    subtract(key) {
      const known = counts.get(key)
      if (known === undefined) return
      known.failures--
      if (known.failures <= 0) counts.delete(key)
    },
  }
}

/**
 * Drops counters whose window is over; without such counters, a tenth of all: those with the fewest failures, the oldest
 * first, never one at its limit. A tenth at once, so that many attempts do not pay for a pass each.
 */
function makeRoom(counts: Map<string, Count>, limit: number, at: number): void {
  const before = counts.size
  const byFailures = Array.from({ length: limit }, () => 0)
  for (const [key, { until, failures }] of counts) {
    if (until <= at) counts.delete(key)
    else if (failures < limit) byFailures[failures] = (byFailures[failures] ?? 0) + 1
  }
  let wanted = Math.ceil(before / 10) - (before - counts.size)
  if (wanted <= 0) return
  for (const [fewest, many] of byFailures.entries()) {
    if (many === 0) continue
    for (const [key, { failures }] of counts) {
      if (failures !== fewest) continue
      counts.delete(key)
      wanted -= 1
      if (wanted === 0) return
    }
  }
}

export const tooMany = (retryAfterSeconds: number): GatewayError =>
  new GatewayError(429, `Too many failed sign-ins: try again in ${retryAfterSeconds} seconds`, {
    metadata: { error_type: 'rate_limit_exceeded' },
    headers: { 'retry-after': String(retryAfterSeconds) },
  })

/** One household has a /64 of IPv6: its addresses count as one. */
function placeOf(address: string | null): string {
  if (address === null) return 'unknown'
  if (!address.includes(':')) return address
  const [head = '', tail = ''] = address.toLowerCase().split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === '' ? [] : tail.split(':')
  const groups = address.includes('::')
    ? [...left, ...Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0'), ...right]
    : left
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')
}
