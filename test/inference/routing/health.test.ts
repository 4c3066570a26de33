import { beforeEach, describe, expect, test } from 'bun:test'
import type { Attempt } from '../../../src/core/attempt.ts'
import { UpstreamError } from '../../../src/core/errors.ts'
import { createHealth, type Health } from '../../../src/inference/routing/health.ts'
import { endpoint, model, provider } from '../fixture.ts'

const attemptAt = (slug: string, credentialId = 'c1'): Attempt => {
  const at = endpoint(slug, 'lab/tiny')
  return {
    model: model('lab/tiny', [at]),
    endpoint: at,
    provider: provider(slug),
    credential: { id: credentialId, secret: null },
    dialect: 'chat',
  }
}

let now = 0
let health: Health
const server = new UpstreamError('server', 'boom', { status: 500 })
const limited = (retryAfterMs: number | null) =>
  new UpstreamError('rate-limit', 'slow', { status: 429, retryAfterMs })
const a = attemptAt('a')
const failTimes = (times: number) => {
  for (let i = 0; i < times; i++) health.failed(a, server)
}

beforeEach(() => {
  now = 1_000_000
  health = createHealth(() => now)
})

describe('breaker', () => {
  test('opens at the fifth failure in a row where there is another endpoint', () => {
    failTimes(4)
    expect(health.cooldownOf(a, false)).toBeNull()
    failTimes(1)
    expect(health.cooldownOf(a, false)).toEqual({ reason: 'failing', until: now + 30_000 })
    expect(health.cooldownOf(attemptAt('b'), false)).toBeNull()
    expect(health.cooldownOf(attemptAt('a', 'c2'), false)).toBeNull()
  })

  test('a clock that is set back makes no wait longer', () => {
    failTimes(5)
    health.failed(attemptAt('b'), limited(20_000))
    now -= 3_600_000
    expect(health.cooldownOf(a, false)).toEqual({ reason: 'failing', until: now + 30_000 })
    expect(health.cooldownOf(attemptAt('b'), true)).toEqual({ reason: 'rate-limit', until: now + 20_000 })
    now += 20_000
    expect(health.cooldownOf(attemptAt('b'), true)).toBeNull()
    now += 10_000
    expect(health.cooldownOf(a, false)).toBeNull()
  })

  test('an only endpoint opens after twenty failures within 30 s, not before', () => {
    failTimes(19)
    expect(health.cooldownOf(a, true)).toBeNull()
    failTimes(1)
    expect(health.cooldownOf(a, true)).not.toBeNull()
  })

  test('twenty failures over a long time do not close an only endpoint', () => {
    for (let i = 0; i < 20; i++) {
      now += 5_000
      failTimes(1)
    }
    expect(health.cooldownOf(a, true)).toBeNull()
  })

  test('one success forgives all', () => {
    failTimes(5)
    health.succeeded(a, 10)
    failTimes(4)
    expect(health.cooldownOf(a, false)).toBeNull()
  })

  test('half of twenty within 30 s opens it, though never five in a row', () => {
    for (let i = 0; i < 10; i++) health.succeeded(a, 5)
    for (let i = 0; i < 4; i++) failTimes(1)
    expect(health.cooldownOf(a, false)).toBeNull()
    const mixed = createHealth(() => now)
    for (let i = 0; i < 10; i++) {
      mixed.succeeded(a, 5)
      mixed.failed(a, server)
    }
    expect(mixed.cooldownOf(a, false)).not.toBeNull()
  })

  test('when it is due again one request probes and the others wait', () => {
    failTimes(5)
    now += 30_000
    expect(health.cooldownOf(a, false)).toBeNull()
    health.trying(a)
    expect(health.cooldownOf(a, false)).not.toBeNull()
    health.failed(a, server)
    expect(health.cooldownOf(a, false)?.until).toBe(now + 60_000)
  })

  test('a probe that succeeds closes it', () => {
    failTimes(5)
    now += 30_000
    health.trying(a)
    health.succeeded(a, 5)
    expect(health.cooldownOf(a, false)).toBeNull()
  })

  test('the caller’s mistakes and our own full bulkhead do not count', () => {
    for (let i = 0; i < 50; i++) {
      health.failed(a, new UpstreamError('caller', 'bad', { status: 400 }))
      health.failed(a, new UpstreamError('capacity', 'full'))
    }
    expect(health.cooldownOf(a, false)).toBeNull()
  })
})

describe('rate limits', () => {
  test('Retry-After is kept, even by an only endpoint', () => {
    health.failed(a, limited(20_000))
    expect(health.cooldownOf(a, true)).toEqual({ reason: 'rate-limit', until: now + 20_000 })
    now += 20_000
    expect(health.cooldownOf(a, true)).toBeNull()
  })
  test('without a hint another endpoint is preferred for 5 s, an only one is asked again', () => {
    health.failed(a, limited(null))
    expect(health.cooldownOf(a, false)?.until).toBe(now + 5_000)
    expect(health.cooldownOf(a, true)).toBeNull()
  })
})

test('latency is the median of what was seen', () => {
  expect(health.latencyMs(a)).toBeNull()
  for (const ms of [500, 10, 20]) health.succeeded(a, ms)
  expect(health.latencyMs(a)).toBe(20)
})
