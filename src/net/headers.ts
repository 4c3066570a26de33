/** Retry hints: the only headers of a provider that may reach a caller. */
const PASSABLE = /^(?:retry-after(?:-ms)?|(?:[a-z]{1,20}-)?ratelimit-[a-z0-9-]{1,60})$/
/** Headers with a provider's request id, for its support; the first that is set counts. */
const REQUEST_ID_NAMES = ['x-request-id', 'request-id', 'x-amzn-requestid', 'apim-request-id', 'cf-ray']
const LONGEST_VALUE = 256
const VISIBLE_ASCII = /^[\x20-\x7e]+$/

const isPassableValue = (value: string): boolean => value.length <= LONGEST_VALUE && VISIBLE_ASCII.test(value)

/**
 * The headers of a provider that may be passed on: `retry-after`, `retry-after-ms` and those about rate limits
 * (`x-ratelimit-…`, `ratelimit-…`, `anthropic-ratelimit-…`), each at most 256 visible characters. Everything
 * else (cookies, encodings, `server`, organisation names) is dropped.
 */
export function passableHeaders(headers: Headers): Record<string, string> {
  const passable: Record<string, string> = {}
  for (const [name, value] of headers) {
    if (PASSABLE.test(name) && isPassableValue(value)) passable[name] = value
  }
  return passable
}

/** The provider's id of the request, for the log; null if absent. */
export function upstreamRequestId(headers: Headers): string | null {
  for (const name of REQUEST_ID_NAMES) {
    const value = headers.get(name)
    if (value !== null && isPassableValue(value)) return value
  }
  return null
}

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
 * five minutes, counts as 60 s.
 */
export function retryAfterMs(headers: Headers, nowMs: number = Date.now()): number | null {
  const fine = headers.get('retry-after-ms')?.trim()
  if (fine !== undefined && DECIMAL.test(fine)) return believed(Number(fine))
  const value = headers.get('retry-after')?.trim()
  if (value !== undefined) return believed(waitOf(value, nowMs))
  return fine === undefined ? null : FALLBACK_MS
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

function believed(waitMs: number): number {
  return waitMs >= 0 && waitMs <= LONGEST_BELIEVED_MS ? Math.ceil(waitMs) : FALLBACK_MS
}
