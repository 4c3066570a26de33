import { UpstreamError } from '../core/errors.ts'

/** Callers are told to come back after this: places become free all the time. */
const RETRY_AFTER_MS = 1000

/** Places for open calls: one bound for all, and one per group, so that a stalled provider fills its own only. */
export interface Bulkhead {
  /** Takes a place or throws an `UpstreamError` of kind `capacity`. Each place is given back by one `leave`. */
  enter(group: string, maxInFlight: number): void
  leave(group: string): void
  inFlight(): number
}

export function createBulkhead(maxInFlight: number): Bulkhead {
  const perGroup = new Map<string, number>()
  let total = 0
  return {
    enter(group, maxOfGroup) {
      const taken = perGroup.get(group) ?? 0
      if (taken >= maxOfGroup) throw full(`all ${maxOfGroup} places of ${group} are taken`)
      if (total >= maxInFlight) throw full(`all ${maxInFlight} places for outbound calls are taken`)
      perGroup.set(group, taken + 1)
      total += 1
    },
    leave(group) {
      const taken = perGroup.get(group)
      if (taken === undefined) throw new Error(`A place of ${group} was given back twice`)
      if (taken === 1) perGroup.delete(group)
      else perGroup.set(group, taken - 1)
      total -= 1
    },
    inFlight: () => total,
  }
}

const full = (reason: string): UpstreamError =>
  new UpstreamError('capacity', reason, { retryAfterMs: RETRY_AFTER_MS })
