/** Time as the delivery has it, so that tests can move it. */
export interface Clock {
  /** Milliseconds since 1970; may jump. */
  now(): number
  /** Runs `work` once after `ms`; the returned function cancels it. Does not depend on `now`. */
  after(ms: number, work: () => void): () => void
}

export const systemClock: Clock = {
  now: Date.now,
  after(ms, work) {
    const timer = setTimeout(work, ms)
    return () => clearTimeout(timer)
  },
}

/** Resolves after `ms`, or at once when the signal aborts. */
export const pause = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const end = (): void => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(ms, end)
    signal.addEventListener('abort', end, { once: true })
  })
