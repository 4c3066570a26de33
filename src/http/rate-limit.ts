import { GatewayError } from '../core/errors.ts'

/** How often a key may call in a minute. One counter for each key, in memory alone: a start begins anew. */
export interface RateLimit {
  /** Counts a request once, however often it is asked for. Throws a `GatewayError` 429 with `Retry-After` beyond the limit. */
  take(request: Request, keyHash: string): void
}

export interface RateLimitOptions {
  /** 0: no limit. */
  perMinute: number
  /** Milliseconds since 1970. */
  now(): number
}

const MINUTE_MS = 60_000
/** Shares of a minute are no whole numbers. */
const TOLERANCE_MS = 1e-3
/** Counters that are full again say nothing and are cleared away, every so many requests. */
const CLEAR_EVERY = 10_000

/**
 * Each key has an allowance of `perMinute` requests that fills up evenly over a minute (the generic cell rate
 * algorithm): a burst of the whole allowance is taken, and nobody waits longer than a share of a minute.
 */
export function createRateLimit({ perMinute, now }: RateLimitOptions): RateLimit {
  /** When the allowance will be whole again, by key. */
  const wholeAt = new Map<string, number>()
  const forward = neverBack()
  const counted = new WeakSet<Request>()
  const shareMs = perMinute === 0 ? 0 : MINUTE_MS / perMinute
  let sinceClearing = 0

  function clear(at: number): void {
    sinceClearing += 1
    if (sinceClearing < CLEAR_EVERY) return
    sinceClearing = 0
    for (const [key, whole] of wholeAt) if (whole <= at) wholeAt.delete(key)
  }

  return {
    take(request, keyHash) {
      if (perMinute === 0 || counted.has(request)) return
      counted.add(request)
      const clock = now()
      const at = forward(clock)
      clear(at)
      const whole = Math.max(wholeAt.get(keyHash) ?? 0, at)
      const next = whole + shareMs
      const waitMs = next - at - MINUTE_MS
      wholeAt.set(keyHash, waitMs > TOLERANCE_MS ? whole : next)
      if (waitMs > TOLERANCE_MS) throw tooMany(perMinute, waitMs, clock)
    },
  }
}

/** A clock that was set back stands for a moment and goes on: nobody is locked out, and nobody gets more. */
function neverBack(): (clock: number) => number {
  let last = 0
  let lead = 0
  return (clock) => {
    if (clock < last) lead += last - clock
    last = clock
    return clock + lead
  }
}

/** The headers are the API's own and those of the IETF's draft "RateLimit header fields". */
function tooMany(perMinute: number, waitMs: number, at: number): GatewayError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  return new GatewayError(
    429,
    `This key may make ${perMinute} requests of administration a minute; the next one is taken in ${seconds} s`,
    {
      metadata: { error_type: 'rate_limit_exceeded' },
      headers: {
        'retry-after': String(seconds),
        'ratelimit-policy': `"administration";q=${perMinute};w=60`,
        ratelimit: `"administration";r=0;t=${seconds}`,
        'x-ratelimit-limit': String(perMinute),
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(Math.ceil((at + waitMs) / 1000) * 1000),
      },
    },
  )
}
