/** The wait for an unreadable, negative or absurd value. */
const FALLBACK_MS = 60_000
/** Longer waits are ignored. */
const LONGEST_BELIEVED_MS = 300_000

/** IMF-fixdate and the two obsolete forms of RFC 9110 §5.6.7 begin with the name of a day. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /i
const DECIMAL = /^\d{1,15}(?:\.\d{1,9})?$/
/** `asctime` dates name no zone and mean UTC. */
const ZONE = /(?:GMT|UTC|[+-]\d{4})$/i

/**
 * The wait that a provider requests, in milliseconds from `nowMs` (milliseconds since 1970); null without one. A readable
 * `retry-after-ms` (Azure, OpenAI) is finer and wins. An unreadable or negative wait (a past date too), and one beyond
 * `longestMs` (five minutes), counts as 60 s.
 */
export function retryAfterMs(
  headers: Headers,
  nowMs: number = Date.now(),
  longestMs: number = LONGEST_BELIEVED_MS,
): number | null {
  const fine = headers.get('retry-after-ms')?.trim()
  if (fine !== undefined && DECIMAL.test(fine)) return believed(Number(fine), longestMs)
  const value = headers.get('retry-after')?.trim()
  if (value !== undefined) return believed(waitOf(value, nowMs), longestMs)
  return fine === undefined ? null : FALLBACK_MS
}

/** Of OpenAI and its kin, Anthropic, and the draft of the IETF; the name may go on (`-tokens`). */
const RESET = /^(?:x-|anthropic-)?ratelimit-(?:[a-z]{1,20}-){0,2}reset(?:-[a-z]{1,20}){0,2}$/
/** `6m0s`, `1h2m3.5s`, `120ms`, `1d`. */
const DURATION = /^(?:\d{1,6}(?:\.\d{1,9})?(?:ms|[dhms])){1,5}$/
const DURATION_PART = /(\d{1,6}(?:\.\d{1,9})?)(ms|[dhms])/g
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** RFC 3339. */
const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/
/** Larger numbers are times since 1970, in seconds, and even larger ones in milliseconds. */
const LEAST_EPOCH_S = 1e9
const LEAST_EPOCH_MS = 1e12

/**
 * For a 429 without `retry-after`: the wait until the rate limit's reset, in milliseconds; null if no header names one.
 * Of several limits those that have nothing remaining count, and the last of them; if none says so, the first to reset.
 */
export function rateResetMs(headers: Headers, nowMs: number = Date.now()): number | null {
  let exhausted: number | null = null
  let soonest: number | null = null
  for (const [name, value] of headers) {
    if (!RESET.test(name)) continue
    const waitMs = resetWaitOf(value.trim(), nowMs)
    if (!(waitMs >= 0)) continue
    if (headers.get(name.replace('reset', 'remaining'))?.trim() === '0') {
      exhausted = Math.max(exhausted ?? 0, waitMs)
    }
    soonest = Math.min(soonest ?? waitMs, waitMs)
  }
  const waitMs = exhausted ?? soonest
  return waitMs === null ? null : believed(waitMs)
}

/** NaN if it is unreadable. A time in the past is no wait. */
function resetWaitOf(value: string, nowMs: number): number {
  if (DECIMAL.test(value)) {
    const number = Number(value)
    if (number < LEAST_EPOCH_S) return number * 1_000
    return Math.max(0, (number < LEAST_EPOCH_MS ? number * 1_000 : number) - nowMs)
  }
  if (DATE_TIME.test(value)) return Math.max(0, Date.parse(value) - nowMs)
  if (!DURATION.test(value)) return Number.NaN
  let sum = 0
  for (const [, count, unit = ''] of value.matchAll(DURATION_PART))
    sum += Number(count) * (UNIT_MS[unit] ?? 0)
  return sum
}

/** The wait in milliseconds; NaN where `value` is neither seconds nor an HTTP date. */
function waitOf(value: string, nowMs: number): number {
  if (DECIMAL.test(value)) return Number(value) * 1000
  if (!HTTP_DATE.test(value)) return Number.NaN
  const until = Date.parse(ZONE.test(value) ? value : `${value} GMT`)
  const waitMs = until - nowMs
  // HTTP dates have a resolution of a second: the current second is no wait, an older one a negative wait.
  return waitMs < 0 && waitMs > -1000 ? 0 : waitMs
}

function believed(waitMs: number, longestMs: number = LONGEST_BELIEVED_MS): number {
  return waitMs >= 0 && waitMs <= longestMs ? Math.ceil(waitMs) : FALLBACK_MS
}
