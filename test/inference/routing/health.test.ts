import { beforeEach, describe, expect, test } from 'bun:test'
import type { Attempt } from '../../../src/core/attempt.ts'
import type { HealthChange } from '../../../src/core/endpoint-health.ts'
import { type ErrorType, UpstreamError } from '../../../src/core/errors.ts'
import { createHealth, type Health } from '../../../src/inference/routing/health.ts'
import { attemptAt as fixtureAttempt, provider } from '../fixture.ts'

const attemptAt = (slug: string, credentialId = 'c1', modelId = 'lab/tiny'): Attempt => ({
  ...fixtureAttempt(slug, modelId, credentialId),
  provider: provider(slug, { baseUrl: `http://${slug}.test/v1` }),
})

let now = 0
let health: Health
let hasRetries = true
let changes: HealthChange[] = []
const server = new UpstreamError('server', 'boom', { status: 500 })
const refused = (status: number, errorType?: ErrorType) =>
  new UpstreamError('credential', 'no', { status, ...(errorType ? { errorType } : {}) })
const limited = (retryAfterMs: number | null) =>
  new UpstreamError('rate-limit', 'slow', { status: 429, retryAfterMs })
const a = attemptAt('a')
const failTimes = (times: number, error = server, attempt = a) => {
  for (let i = 0; i < times; i++) health.failed(attempt, error, health.trying(attempt))
}
const isShut = (attempt = a, isPanic = false) => health.cooldownOf(attempt, isPanic) !== null
const messages = () => changes.map(({ message }) => message)

beforeEach(() => {
  now = 1_000_000
  hasRetries = true
  changes = []
  health = createHealth({
    clock: () => now,
    random: () => 0,
    mayRetry: () => hasRetries,
    onChange: (change) => changes.push(change),
  })
})

describe('a breaker', () => {
  test('opens for a second at the third failure in a row, for its endpoint and credential only', () => {
    failTimes(2)
    expect(isShut()).toBe(false)
    failTimes(1)
    expect(health.cooldownOf(a, false)).toEqual({ reason: 'failing', until: now + 1_000 })
    expect(isShut(attemptAt('b'))).toBe(false)
    expect(isShut(attemptAt('a', 'c2'))).toBe(false)
  })

  test('opens once for a burst, however many of its requests fail afterwards', () => {
    const begun = Array.from({ length: 50 }, () => health.trying(a))
    now += 200
    for (const began of begun) health.failed(a, server, began)
    expect(health.cooldownOf(a, false)).toEqual({ reason: 'failing', until: now + 1_000 })
    now += 900
    health.failed(a, server, begun[0] ?? 0)
    now += 100
    expect(isShut()).toBe(false)
  })

  test('pauses twice as long after each failed probe, 30 s at most', () => {
    failTimes(3)
    const pauses = Array.from({ length: 7 }, () => {
      const pause = (health.cooldownOf(a, false)?.until ?? 0) - now
      now += pause
      failTimes(1)
      return pause
    })
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  })

  test('has up to a quarter less of a pause, by chance', () => {
    const early = createHealth({
      clock: () => now,
      random: () => 1,
      mayRetry: () => true,
      onChange: () => undefined,
    })
    for (let i = 0; i < 3; i++) early.failed(a, server, now)
    expect(early.cooldownOf(a, false)?.until).toBe(now + 750)
  })
  test('is closed by the first content, after which old failures of a burst do not count', () => {
    const late = health.trying(a)
    failTimes(3)
    now += 1_000
    health.trying(a)
    health.succeeded(a, 5)
    expect(isShut()).toBe(false)
    for (let i = 0; i < 5; i++) health.failed(a, server, late)
    expect(isShut()).toBe(false)
  })
  test('is closed by content for a request that began before it opened', () => {
    failTimes(3)
    health.succeeded(a, 5)
    expect(isShut()).toBe(false)
  })
  test('that opened because too many fail is closed by a probe, not by requests that began before', () => {
    for (let i = 0; i < 5; i++) {
      health.succeeded(a, 5)
      failTimes(1)
    }
    expect(isShut()).toBe(true)
    now += 200
    health.succeeded(a, 250)
    expect(isShut()).toBe(true)
    now += 900
    health.trying(a)
    now += 100
    health.succeeded(a, 100)
    expect(isShut()).toBe(false)
  })
  test('lets 1, 2, 4 … requests a second probe while none has an answer', () => {
    failTimes(3)
    now += 1_000
    const passed = [0, 0, 0, 0]
    for (const [second] of passed.entries()) {
      for (let tenth = 0; tenth < 10; tenth++) {
        for (let i = 0; i < 20 && !isShut(); i++) {
          health.trying(a)
          passed[second] = (passed[second] ?? 0) + 1
        }
        now += 100
      }
    }
    expect(passed).toEqual([1, 2, 4, 8])
  })
  test('opens when a third of ten failed within 30 s, though never three in a row', () => {
    for (let i = 0; i < 3; i++) {
      health.succeeded(a, 5)
      health.succeeded(a, 5)
      failTimes(1)
    }
    health.succeeded(a, 5)
    expect(isShut()).toBe(false)
    failTimes(1)
    expect(isShut()).toBe(true)
  })
  test('is not probed while no retry is left and others are well', () => {
    failTimes(3)
    now += 1_000
    hasRetries = false
    expect(isShut()).toBe(true)
    expect(isShut(a, true)).toBe(false)
    hasRetries = true
    expect(isShut()).toBe(false)
  })
  test('is not touched by mistakes of callers, requests that do not suit, or our own full bulkhead', () => {
    for (const kind of ['caller', 'unsuitable', 'capacity'] as const)
      failTimes(50, new UpstreamError(kind, 'no'))
    expect(isShut()).toBe(false)
    expect(health.troubled()).toEqual([])
  })
  test('does not pause longer when the clock is set back', () => {
    failTimes(3)
    health.failed(attemptAt('b'), limited(20_000), now)
    now -= 3_600_000
    expect(health.cooldownOf(a, false)).toEqual({ reason: 'failing', until: now + 1_000 })
    expect(health.cooldownOf(attemptAt('b'), true)).toEqual({ reason: 'rate-limit', until: now + 20_000 })
    now += 20_000
    expect(isShut(attemptAt('b'), true)).toBe(false)
    expect(isShut()).toBe(false)
  })
})

describe('in panic mode', () => {
  test('an endpoint is called until twenty failures in a row, then once a second', () => {
    failTimes(19)
    expect(isShut(a, true)).toBe(false)
    failTimes(1)
    expect(health.cooldownOf(a, true)).toEqual({ reason: 'failing', until: now + 1_000 })
    for (let second = 0; second < 60; second++) {
      now += 1_000
      expect(isShut(a, true)).toBe(false)
      failTimes(1)
      expect(health.cooldownOf(a, true)?.until).toBe(now + 1_000)
    }
  })
  test('twenty failures over a long time do not slow it', () => {
    for (let i = 0; i < 20; i++) {
      now += 5_000
      failTimes(1)
    }
    expect(isShut(a, true)).toBe(false)
  })
})

describe('a host', () => {
  const connect = new UpstreamError('connect', 'refused')
  test('that cannot be reached shuts all of its endpoints, until one of them answers', () => {
    const other = attemptAt('a', 'c1', 'lab/other')
    failTimes(3, connect)
    expect(isShut(other)).toBe(true)
    expect(isShut(attemptAt('b'))).toBe(false)
    now += 1_000
    health.trying(other)
    health.succeeded(other, 5)
    expect(isShut(a)).toBe(false)
    expect(messages()).toEqual([
      'A cannot be reached; it is skipped and probed until it answers',
      'A (lab/other) answers again',
    ])
  })
})

describe('rate limits', () => {
  test('last as long as the provider stated, in panic mode too, for the model and credential only', () => {
    failTimes(1, limited(20_000))
    expect(health.cooldownOf(a, true)).toEqual({ reason: 'rate-limit', until: now + 20_000 })
    expect(isShut(attemptAt('a', 'c1', 'lab/other'))).toBe(false)
    expect(isShut(attemptAt('a', 'c2'))).toBe(false)
    now += 20_000
    expect(isShut(a, true)).toBe(false)
  })
  test('without a stated time last 5 s, and are ignored in panic mode', () => {
    failTimes(1, limited(null))
    expect(health.cooldownOf(a, false)?.until).toBe(now + 5_000)
    expect(isShut(a, true)).toBe(false)
  })
})

describe('a refused credential', () => {
  const errors: [UpstreamError, ms: number][] = [
    [refused(401), 600_000],
    [refused(429, 'payment_required'), 30_000],
  ]
  for (const [error, ms] of errors)
    test(`(${error.status}) is not used for any model of its provider, for ${ms / 1_000} s`, () => {
      failTimes(1, error)
      expect(health.cooldownOf(a, true)).toEqual({ reason: 'refused', until: now + ms })
      expect(isShut(attemptAt('a', 'c1', 'lab/other'), true)).toBe(true)
      expect(isShut(attemptAt('b', 'c1'), true)).toBe(false)
      expect(isShut(attemptAt('a', 'c2'), true)).toBe(false)
      now += ms
      expect(isShut(a)).toBe(false)
    })
  test('(403) is not used for the model', () => {
    failTimes(1, refused(403))
    expect(isShut(a, true)).toBe(true)
    expect(isShut(attemptAt('a', 'c1', 'lab/other'))).toBe(false)
  })
  test('is used at once after it was replaced', () => {
    failTimes(1, refused(401))
    health.forget('c1')
    expect(isShut(a)).toBe(false)
  })
})

test('each change is logged once', () => {
  failTimes(40)
  for (let i = 0; i < 3; i++) failTimes(1, refused(401), attemptAt('b'))
  failTimes(3, limited(1_000), attemptAt('c'))
  now += 1_000
  failTimes(1)
  now += 30_000
  health.succeeded(a, 5)
  health.succeeded(a, 5)
  expect(messages()).toEqual([
    'A (lab/tiny) answers with errors (HTTP 500); it is skipped and probed until it answers',
    'B rejected the credential c1 (HTTP 401); it is not used for 10 minutes. Replace it, or grant it access at the provider',
    'the rate limit of C (lab/tiny) is reached; it is skipped until the limit ends',
    'A (lab/tiny) answers again',
  ])
  expect(changes.map(({ isWell }) => isWell)).toEqual([false, false, false, true])
})

test('the report has state, cause and the time of the next probe', () => {
  const at = now
  failTimes(3)
  failTimes(1, refused(401), attemptAt('b'))
  failTimes(1, limited(9_000), attemptAt('c'))
  failTimes(3, new UpstreamError('connect', 'reset'), attemptAt('d'))
  const brief = () =>
    health
      .troubled()
      .map(({ endpointId, state, cause, since, nextProbeAt, failures }) => [
        endpointId,
        state,
        cause,
        since - at,
        nextProbeAt - at,
        failures,
      ])
  expect(brief()).toEqual([
    ['a/lab/tiny', 'failing', 'A (lab/tiny) answers with errors (HTTP 500)', 0, 1_000, 3],
    ['b/lab/tiny', 'refused', 'B rejected the credential c1 (HTTP 401)', 0, 600_000, 0],
    ['c/lab/tiny', 'rate_limited', 'the rate limit of C (lab/tiny) is reached', 0, 9_000, 0],
    ['d/lab/tiny', 'failing', 'D cannot be reached', 0, 1_000, 3],
  ])
  now += 1_000
  expect(brief()[0]?.[1]).toBe('half_open')
  health.succeeded(a, 5)
  expect(brief().map(([id]) => id)).toEqual(['b/lab/tiny', 'c/lab/tiny', 'd/lab/tiny'])
})
