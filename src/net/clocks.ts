import { UpstreamError } from '../core/errors.ts'

/** A call that is watched. Times are on the scale of the clocks' `now`, in milliseconds. */
export interface Watched {
  /** When the wait that is under way is over; Infinity while the consumer, not the provider, has the turn. */
  waitUntil: number
  /** When the call is over, whatever happens. */
  endAt: number
  /** The shortest of its limits: decides how often the clocks look. */
  readonly finestMs: number
  /** Called when its time is over, with why; must `unwatch`. */
  expire(why: Expiry): void
}

/** The wait for bytes, the whole call, or the end of the clocks themselves. */
export type Expiry = 'wait' | 'total' | 'close'

/**
 * One coarse timer for all open calls, in place of a timer per call and chunk: moving a deadline is one
 * assignment. A limit fires at most one sweep late (250 ms, or a tenth of the shortest limit) and never early.
 */
export interface Clocks {
  now(): number
  watch(call: Watched): void
  unwatch(call: Watched): void
  /** Expires every call that is watched. */
  close(): void
}

const COARSEST_SWEEP_MS = 250
const FINEST_SWEEP_MS = 5

export function createClocks(now: () => number): Clocks {
  const watched = new Set<Watched>()
  let timer: ReturnType<typeof setInterval> | undefined
  let periodMs = COARSEST_SWEEP_MS

  const stop = (): void => {
    clearInterval(timer)
    timer = undefined
    periodMs = COARSEST_SWEEP_MS
  }
  const sweep = (): void => {
    const time = now()
    for (const call of watched) {
      if (time >= call.endAt) call.expire('total')
      else if (time >= call.waitUntil) call.expire('wait')
    }
    // Stopped here and not by `unwatch`: a gateway with one caller at a time would start a timer per request.
    if (watched.size === 0) stop()
  }
  return {
    now,
    watch(call) {
      watched.add(call)
      const wantedMs = Math.max(FINEST_SWEEP_MS, call.finestMs / 10)
      if (timer !== undefined && wantedMs >= periodMs) return
      clearInterval(timer)
      periodMs = Math.min(periodMs, wantedMs)
      timer = setInterval(sweep, periodMs)
      timer.unref()
    },
    unwatch: (call) => {
      watched.delete(call)
    },
    close() {
      for (const call of watched) call.expire('close')
      stop()
    },
  }
}

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
