import { createAllowances } from '../core/allowance.ts'
import { GatewayError, NEVER_RETRY } from '../core/errors.ts'
import type { Incoming } from './incoming.ts'

/** The administration rate limit per key and minute. Counters are in memory only: a restart resets them. */
export interface RateLimit {
  /** Counts a request; further calls for it have no effect. Throws a `GatewayError` 429 with `Retry-After` beyond the limit. */
  take(incoming: Pick<Incoming, 'isCounted'>, keyHash: string): void
}

export interface RateLimitOptions {
  /** 0: no limit. */
  perMinute: number
  /** Milliseconds since 1970. */
  now(): number
}

/** Each key has an allowance of `perMinute` requests, see `Allowances`. */
export function createRateLimit({ perMinute, now }: RateLimitOptions): RateLimit {
  const allowances = createAllowances(now)
  return {
    take(incoming, keyHash) {
      if (perMinute === 0 || incoming.isCounted) return
      incoming.isCounted = true
      const waitMs = allowances.waitMs(keyHash, perMinute, 1)
      if (waitMs > 0) throw tooMany(perMinute, waitMs, now())
      allowances.take(keyHash, perMinute, 1)
    },
  }
}

function tooMany(perMinute: number, waitMs: number, at: number): GatewayError {
  const seconds = secondsOf(waitMs)
  return new GatewayError(
    429,
    `This key may make ${perMinute} requests of administration a minute; the next one is taken in ${seconds} s`,
    {
      metadata: { error_type: 'rate_limit_exceeded' },
      refusal: { reason: 'rate', gate: 'administration' },
      headers: rateLimitHeaders({ policy: 'administration', limit: perMinute, remaining: 0, waitMs, at }),
    },
  )
}

/** The `Retry-After` seconds after which the request fits. */
export const secondsOf = (waitMs: number): number => Math.max(1, Math.ceil(waitMs / 1000))

export interface RefusedRate {
  /** The name of the limit. */
  policy: string
  limit: number
  remaining: number
  /** Infinity: waiting does not help. */
  waitMs: number
  /** Now, in milliseconds since 1970. */
  at: number
  /** False: a limit of parallel requests, not a rate. Default true. */
  isPerMinute?: boolean
}

/** The headers of a 429: the API's, and those of the IETF draft "RateLimit header fields". */
export function rateLimitHeaders({
  policy,
  limit,
  remaining,
  waitMs,
  at,
  isPerMinute = true,
}: RefusedRate): Record<string, string> {
  const headers = {
    'ratelimit-policy': `"${policy}";q=${limit}${isPerMinute ? ';w=60' : ''}`,
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
  }
  if (waitMs === Number.POSITIVE_INFINITY)
    return { ...headers, ...NEVER_RETRY, ratelimit: `"${policy}";r=${remaining}` }
  const seconds = secondsOf(waitMs)
  return {
    ...headers,
    ratelimit: `"${policy}";r=${remaining};t=${seconds}`,
    'retry-after': String(seconds),
    'x-ratelimit-reset': String(Math.ceil((at + waitMs) / 1000) * 1000),
  }
}
