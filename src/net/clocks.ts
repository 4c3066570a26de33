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
