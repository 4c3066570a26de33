import { UpstreamError } from '../core/errors.ts'

/** A call that is watched. Times are on the scale of the clocks' `now`, in milliseconds. */
export interface Watched {
  /** The end of the current wait; Infinity while the gateway waits for the consumer instead of the provider. */
  waitUntil: number
  /** The latest end of the call. */
  endAt: number
  /** The shortest of its limits: sets how often the clocks sweep. */
  readonly finestMs: number
  /** Called at the end of a limit; must `unwatch`. */
  expire(why: Expiry): void
}

/** The wait for bytes, the complete call, or the end of the clocks themselves. */
export type Expiry = 'wait' | 'total' | 'close'

/**
 * One coarse timer for all open calls, instead of a timer for each call and chunk: moving a deadline is one
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
    // Stopped here, not by `unwatch`: with one caller at a time, each request would start a timer.
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

/** `Retry-After` for callers: places become free all the time. */
const RETRY_AFTER_MS = 1000

/** Places for open calls: one bound for all, and one for each group, so that a stalled provider fills only its own. */
export interface Bulkhead {
  /** Takes a place or throws an `UpstreamError` of kind `capacity`. One `leave` releases it. */
  enter(group: string, maxInFlight: number, endpoint?: string): void
  leave(group: string, endpoint?: string): void
  /** Of one group, or of all. */
  inFlight(group?: string): number
  /** Of each endpoint that has any. */
  readonly byEndpoint: ReadonlyMap<string, number>
}

export function createBulkhead(maxInFlight: number): Bulkhead {
  const perGroup = new Map<string, number>()
  const byEndpoint = new Map<string, number>()
  let total = 0
  return {
    byEndpoint,
    enter(group, maxOfGroup, endpoint) {
      const taken = perGroup.get(group) ?? 0
      if (taken >= maxOfGroup) throw full(`all ${maxOfGroup} places of ${group} are taken`)
      if (total >= maxInFlight) throw full(`all ${maxInFlight} places for outbound calls are taken`)
      perGroup.set(group, taken + 1)
      if (endpoint !== undefined) byEndpoint.set(endpoint, (byEndpoint.get(endpoint) ?? 0) + 1)
      total += 1
    },
    leave(group, endpoint) {
      const taken = perGroup.get(group)
      if (taken === undefined) throw new Error(`A place of ${group} was released twice`)
      if (taken === 1) perGroup.delete(group)
      else perGroup.set(group, taken - 1)
      if (endpoint !== undefined) {
        const open = (byEndpoint.get(endpoint) ?? 0) - 1
        if (open > 0) byEndpoint.set(endpoint, open)
        else byEndpoint.delete(endpoint)
      }
      total -= 1
    },
    inFlight: (group) => (group === undefined ? total : (perGroup.get(group) ?? 0)),
  }
}

const full = (reason: string): UpstreamError =>
  new UpstreamError('capacity', reason, { retryAfterMs: RETRY_AFTER_MS })
