import { neverBack } from '../../core/never-back.ts'

/**
 * The retries of the gateway together: at most a fifth of the requests of the last 10 seconds, and 3. When providers are
 * down, callers' requests must not become several times as many calls. A fail-over to an endpoint that is
 * well (`Health.isWell`) does not count, so that a caller gets an answer as long as one endpoint is well.
 */
export interface RetryBudget {
  /** A request is about to make its first attempt. */
  countRequest(): void
  hasLeft(): boolean
  /** Takes one retry; false: none is left. */
  take(): boolean
}

const WINDOW_SECONDS = 10
const SHARE = 0.2
const ALWAYS = 3

export function createRetryBudget(clock: () => number): RetryBudget {
  const now = neverBack(clock)
  /** Ring buffers of the last seconds; `current` is the last second that was counted. */
  const requests = new Array<number>(WINDOW_SECONDS).fill(0)
  const retries = new Array<number>(WINDOW_SECONDS).fill(0)
  let current = 0
  let requestCount = 0
  let retryCount = 0
  /** Empties the seconds that have passed; returns the place of this one. */
  const place = (): number => {
    const second = Math.floor(now() / 1000)
    for (let next = Math.max(current + 1, second - WINDOW_SECONDS + 1); next <= second; next++) {
      const slot = next % WINDOW_SECONDS
      requestCount -= requests[slot] ?? 0
      retryCount -= retries[slot] ?? 0
      requests[slot] = 0
      retries[slot] = 0
    }
    current = Math.max(current, second)
    return current % WINDOW_SECONDS
  }
  const hasLeft = (): boolean => {
    place()
    return retryCount + 1 <= requestCount * SHARE + ALWAYS
  }
  return {
    countRequest() {
      const slot = place()
      requests[slot] = (requests[slot] ?? 0) + 1
      requestCount += 1
    },
    hasLeft,
    take() {
      if (!hasLeft()) return false
      const slot = place()
      retries[slot] = (retries[slot] ?? 0) + 1
      retryCount += 1
      return true
    },
  }
}
