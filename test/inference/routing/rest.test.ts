import { beforeEach, describe, expect, test } from 'bun:test'
import type { HealthChange } from '../../../src/core/endpoint-health.ts'
import { UpstreamError } from '../../../src/core/errors.ts'
import { createHealth, type Health } from '../../../src/inference/routing/health.ts'
import { attemptAt } from '../fixture.ts'

/** Endpoints that do not know their model, and accounts without a balance. */

let now = 0
let health: Health
let changes: HealthChange[] = []
const a = attemptAt('a')
const unknown = new UpstreamError('unsuitable', 'no', {
  status: 404,
  errorType: 'not_found',
  reach: 'endpoint',
})
const unpaid = new UpstreamError('credential', 'no', { status: 402, errorType: 'payment_required' })
const failWith = (error: UpstreamError, attempt = a): void =>
  health.failed(attempt, error, health.trying(attempt))
const until = (attempt = a, isPanic = false) => health.cooldownOf(attempt, isPanic)?.until ?? null
const restOver = (): void => {
  now = until() ?? now
}

beforeEach(() => {
  now = 1_000_000
  changes = []
  health = createHealth({
    clock: () => now,
    random: () => 0,
    mayRetry: () => true,
    onChange: (change) => changes.push(change),
  })
})

describe('an endpoint that does not know its model', () => {
  test('rests twice as long after each probe, from a minute to an hour', () => {
    failWith(unknown)
    expect(health.cooldownOf(a, false)).toEqual({ reason: 'unknown-model', until: now + 60_000 })
    expect(until(attemptAt('a', 'lab/other'))).toBeNull()
    const minutes = Array.from({ length: 7 }, () => {
      restOver()
      failWith(unknown)
      return ((until() ?? 0) - now) / 60_000
    })
    expect(minutes).toEqual([2, 4, 8, 16, 32, 60, 60])
  })

  test('is probed by one request at a time', () => {
    failWith(unknown)
    restOver()
    const began = health.trying(a)
    now += 5_000
    expect(until()).toBe(began + 30_000)
    now += 25_000
    expect(until()).toBeNull()
  })

  test('rests once for a burst of requests in flight', () => {
    const begun = Array.from({ length: 20 }, () => health.trying(a))
    for (const began of begun) health.failed(a, unknown, began)
    expect(until()).toBe(now + 60_000)
  })

  test('is called again as soon as it answers a probe, and once its entry has changed', () => {
    failWith(unknown)
    restOver()
    health.trying(a)
    health.succeeded(a, 5)
    expect(until()).toBeNull()
    now += 60_000
    failWith(unknown)
    health.forgetUnknown()
    expect([until(), health.troubled()]).toEqual([null, []])
  })

  test('is called once a second if nothing else can serve the request, which does not make its rest longer', () => {
    failWith(unknown)
    const end = until()
    expect(until(a, true)).toBe(now + 1_000)
    now += 1_000
    expect(until(a, true)).toBeNull()
    failWith(unknown)
    expect([until(a, true), until()]).toEqual([now + 1_000, end])
  })

  test('does not rest if it answered in the last minute: the 404 is about something else', () => {
    health.succeeded(a, 5)
    failWith(unknown)
    expect(until()).toBeNull()
    now += 60_000
    failWith(unknown)
    expect(until()).not.toBeNull()
  })

  test('is logged once, and listed with the time of its probe', () => {
    for (let times = 0; times < 3; times++) {
      failWith(unknown)
      restOver()
    }
    expect(changes.map(({ message }) => message)).toEqual([
      'A (lab/tiny) does not know the model "tiny" (HTTP 404); it is skipped, and probed after a minute, later once an hour. Correct "upstream_id" of the model, or remove the model from the entry',
    ])
    const listed = () => health.troubled().map(({ state, nextProbeAt }) => [state, nextProbeAt - now])
    expect(listed()).toEqual([['half_open', 0]])
    failWith(unknown)
    expect(listed()).toEqual([['unknown_model', 480_000]])
  })
})

describe('an account without a balance', () => {
  test('is probed by one request after 30 seconds, then every minute, until it works', () => {
    failWith(unpaid)
    expect(health.cooldownOf(a, true)).toEqual({ reason: 'refused', until: now + 30_000 })
    for (let times = 0; times < 3; times++) {
      restOver()
      failWith(unpaid)
      expect(until()).toBe(now + 60_000)
    }
    restOver()
    health.trying(a)
    expect(until(attemptAt('a', 'lab/other'))).toBe(now + 30_000)
    health.succeeded(a, 5)
    expect(until(attemptAt('a', 'lab/other'))).toBeNull()
    expect(changes.map(({ message }) => message)).toEqual([
      'A rejected the credential c1 (HTTP 402); it is probed once a minute until it works. Add credits at the provider',
      'A (lab/tiny) answers again',
    ])
  })
})
