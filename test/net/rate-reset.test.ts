import { describe, expect, test } from 'bun:test'
import { readErrorReply } from '../../src/dialects/read-error.ts'
import { rateResetMs } from '../../src/net/headers.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')
const waitOf = (headers: Record<string, string>) => rateResetMs(new Headers(headers), NOW)

describe('the wait until a rate limit resets is read from', () => {
  test.each([
    ['seconds', '7', 7_000],
    ['parts of a second', '0.25', 250],
    ['nothing to wait', '0', 0],
    ['milliseconds with a unit', '120ms', 120],
    ['seconds with a unit', '1.5s', 1_500],
    ['minutes and seconds', '1m30s', 90_000],
    ['four minutes', '4m0s', 240_000],
    ['seconds since 1970', String(NOW / 1_000 + 12), 12_000],
    ['milliseconds since 1970', String(NOW + 3_400), 3_400],
    ['a time', '2026-11-20T12:00:30Z', 30_000],
    ['a time with a zone', '2026-11-20T13:00:30.5+01:00', 30_500],
    ['a time that has passed', '2026-11-20T11:59:00Z', 0],
    ['more than five minutes, which counts as one', '6m0s', 60_000],
    ['a day, which counts as a minute', '1d', 60_000],
  ])('%s', (_, value, waitMs) => {
    expect(waitOf({ 'x-ratelimit-reset': value })).toBe(waitMs)
  })

  test.each([
    'x-ratelimit-reset-requests',
    'x-ratelimit-reset-tokens',
    'x-ratelimit-reset-tokens-minute',
    'anthropic-ratelimit-requests-reset',
    'anthropic-ratelimit-input-tokens-reset',
    'ratelimit-reset',
  ])('%s', (name) => {
    expect(waitOf({ [name]: '8' })).toBe(8_000)
  })

  test.each(['', 'soon', '-3', 'never', '6m0', '1e3', '1h'.repeat(50), '2026-11-20', '1'.repeat(200)])(
    'no header that says %p',
    (value) => {
      expect(waitOf({ 'x-ratelimit-reset': value })).toBeNull()
    },
  )
})

test('of several limits those with nothing remaining count, and the last of them', () => {
  const headers = {
    'x-ratelimit-remaining-requests': '0',
    'x-ratelimit-reset-requests': '20s',
    'x-ratelimit-remaining-tokens': '0',
    'x-ratelimit-reset-tokens': '30s',
    'x-ratelimit-remaining-images': '4',
    'x-ratelimit-reset-images': '50s',
  }
  expect(waitOf(headers)).toBe(30_000)
  expect(
    waitOf({ ...headers, 'x-ratelimit-remaining-requests': '1', 'x-ratelimit-remaining-tokens': '9' }),
  ).toBe(20_000)
})

test('a 429 waits for it only if neither a header nor the body says when to retry', () => {
  const reset = { 'anthropic-ratelimit-tokens-reset': '40' }
  const waitFor = (status: number, headers: Record<string, string>, body: object = { error: {} }) =>
    readErrorReply(status, new Headers(headers), JSON.stringify(body)).retryAfterMs
  expect(waitFor(429, reset)).toBe(40_000)
  expect(waitFor(429, { ...reset, 'retry-after': '2' })).toBe(2_000)
  expect(waitFor(500, reset)).toBeNull()
  const info = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '9s' }
  expect(waitFor(429, reset, { error: { message: 'slow', details: [info] } })).toBe(9_000)
})
