import { GatewayError } from '../../core/errors.ts'

/** One attempt to sign in that may go on. */
export interface Attempt {
  /** Failures of this account in the window, before this attempt. */
  readonly failures: number
  /** The password was right: what was counted for the account is forgotten. */
  succeed(): void
}

export type Refusal = {
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
const MOST_COUNTED = 30_000

interface Count {
  failures: number
  refusals: number
  /** Milliseconds since 1970. */
  until: number
}

/** Failed sign-ins in memory: per account and address, per address, per account. `now` in milliseconds since 1970. */
export function createAttempts(now: () => number): Attempts {
  const counts = new Map<string, Count>()
  const countOf = (key: string): Count => {
    const known = counts.get(key)
    if (known !== undefined && known.until > now()) return known
    const fresh = { failures: 0, refusals: 0, until: now() + WINDOW_MS }
    // Put at the end: the oldest go first.
    counts.delete(key)
    counts.set(key, fresh)
    if (counts.size > MOST_COUNTED) dropOldest(counts)
    return fresh
  }
  return {
    begin(account, address) {
      const place = placeOf(address)
      const counted = [
        { count: countOf(`pair ${place} ${account}`), limit: LIMITS.pair },
        { count: countOf(`address ${place}`), limit: LIMITS.address },
        { count: countOf(`account ${account}`), limit: LIMITS.account },
      ]
      const [pair, ofPlace, ofAccount] = counted.map(({ count }) => count)
      const full = counted.filter(({ count, limit }) => count.failures >= limit)
      if (full.length > 0) {
        const until = Math.max(...full.map(({ count }) => count.until))
        const isFirst = full.some(({ count }) => count !== ofPlace && count.refusals === 0)
        for (const { count } of full) count.refusals++
        return {
          retryAfterSeconds: Math.max(1, Math.ceil((until - now()) / 1000)),
          failures: ofAccount?.failures ?? 0,
          isFirst,
        }
      }
      const failures = ofAccount?.failures ?? 0
      for (const { count } of counted) count.failures++
      return {
        failures,
        succeed() {
          if (pair) pair.failures = 0
          if (ofAccount) ofAccount.failures = 0
          if (ofPlace) ofPlace.failures = Math.max(0, ofPlace.failures - 1)
        },
      }
    },
  }
}

export const tooMany = (retryAfterSeconds: number): GatewayError =>
  new GatewayError(429, `Too many failed sign-ins: try again in ${retryAfterSeconds} seconds`, {
    metadata: { error_type: 'rate_limit_exceeded' },
    headers: { 'retry-after': String(retryAfterSeconds) },
  })

/** One household has a whole /64 of IPv6: its addresses count as one. */
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

function dropOldest(counts: Map<string, Count>): void {
  const [oldest] = counts.keys()
  if (oldest !== undefined) counts.delete(oldest)
}
