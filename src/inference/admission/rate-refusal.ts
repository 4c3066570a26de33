import { GatewayError } from '../../core/errors.ts'
import type { RateGate } from '../../core/rate-limits.ts'
import { rateLimitHeaders, secondsOf } from '../../http/rate-limit.ts'

/** The state of one gate for a request. */
export interface RateStanding {
  readonly gate: RateGate
  /** Requests or tokens that this request needs. */
  readonly amount: number
  /** The used amount, including reservations of running requests. */
  readonly used: number
  /** The part of `used` that running requests reserve. */
  readonly held: number
  /** 0: the request fits. Null: it fits once a running request ends. Infinity: it never fits. */
  readonly waitMs: number | null
}

/** Retry-After while the gate waits for a running request, whose end is unknown. */
const RETRY_MS = 1_000

/** The 429 of a gate, with its owner, limit, usage and wait. `at` is in milliseconds. */
export function tooMany(standing: RateStanding, at: number): GatewayError {
  const { gate, used, waitMs } = standing
  return new GatewayError(429, sentence(standing), {
    metadata: { error_type: 'rate_limit_exceeded' },
    headers: rateLimitHeaders({
      policy: gate.measure,
      limit: gate.limit,
      remaining: Math.max(0, gate.limit - rounded(used)),
      waitMs: waitMs ?? RETRY_MS,
      at,
      isPerMinute: gate.measure !== 'concurrent-requests',
    }),
  })
}

function sentence(standing: RateStanding): string {
  const { gate, amount, used, held, waitMs } = standing
  const { label, limit } = gate
  const model = gate.model === undefined ? '' : ` of ${gate.model}`
  if (waitMs === null) {
    return `${label} may have ${formatCount(limit, 'request')} running at once, and ${formatCount(used)} are. The next one is taken when one of them has ended; ${RAISED}`
  }
  if (gate.measure === 'requests') {
    return `${label} may make ${formatCount(limit, 'request')}${model} a minute; used up: ${formatCount(rounded(used))}, still running: ${formatCount(held)}. The next one is taken in ${secondsOf(waitMs)} s; ${RAISED}`
  }
  if (waitMs === Number.POSITIVE_INFINITY) {
    return `${label} may use ${formatCount(limit, 'token')}${model} a minute, and this prompt alone is about ${formatCount(amount)}: waiting does not help, a shorter prompt does; ${RAISED}`
  }
  return `${label} may use ${formatCount(limit, 'token')}${model} a minute; used up: ${formatCount(rounded(used))}, of that held by running requests: ${formatCount(held)}, needed: ${formatCount(amount)}. It is taken in ${secondsOf(waitMs)} s; ${RAISED}`
}

const RAISED = 'a higher limit holds at once'

/** Partially refilled units do not count as available. */
const rounded = (used: number): number => Math.ceil(used - 1e-6)

const formatCount = (count: number, unit?: string): string => {
  const number = count.toLocaleString('en')
  return unit === undefined ? number : `${number} ${unit}${count === 1 ? '' : 's'}`
}
