/** Hints about when to call again: the only headers of a provider that may reach a caller. */
const PASSABLE = /^(?:retry-after(?:-ms)?|(?:[a-z]{1,20}-)?ratelimit-[a-z0-9-]{1,60})$/
/** Under these names providers give the id that their support asks for; the first that is set is taken. */
const REQUEST_ID_NAMES = ['x-request-id', 'request-id', 'x-amzn-requestid', 'apim-request-id', 'cf-ray']
const LONGEST_VALUE = 256
const VISIBLE_ASCII = /^[\x20-\x7e]+$/

const isPassableValue = (value: string): boolean => value.length <= LONGEST_VALUE && VISIBLE_ASCII.test(value)

/**
 * What of a provider's headers may be passed on: `retry-after`, `retry-after-ms` and those about rate limits
 * (`x-ratelimit-…`, `ratelimit-…`, `anthropic-ratelimit-…`), each at most 256 visible characters. Everything
 * else (cookies, encodings, `server`, organisation names) stays here.
 */
export function passableHeaders(headers: Headers): Record<string, string> {
  const passable: Record<string, string> = {}
  for (const [name, value] of headers) {
    if (PASSABLE.test(name) && isPassableValue(value)) passable[name] = value
  }
  return passable
}

/** The provider's own id of the request, for the log; null where it gave none. */
export function upstreamRequestId(headers: Headers): string | null {
  for (const name of REQUEST_ID_NAMES) {
    const value = headers.get(name)
    if (value !== null && isPassableValue(value)) return value
  }
  return null
}
