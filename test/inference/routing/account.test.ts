import { beforeEach, describe, expect, test } from 'bun:test'
import type { Attempt } from '../../../src/core/attempt.ts'
import type { HealthChange } from '../../../src/core/endpoint-health.ts'
import { type Reach, UpstreamError } from '../../../src/core/errors.ts'
import { readErrorReply } from '../../../src/dialects/read-error.ts'
import { createHealth, type Health } from '../../../src/inference/routing/health.ts'
import { attemptAt as fixtureAttempt } from '../fixture.ts'

/** Rate limits and outages of all models of a provider. */

const attemptAt = (modelId: string, slug = 'a', credentialId = 'c1'): Attempt =>
  fixtureAttempt(slug, modelId, credentialId)

let now = 0
let health: Health
let changes: HealthChange[] = []
const MODELS = ['x/one', 'x/two', 'x/three']
const other = attemptAt('x/other')
const down = new UpstreamError('server', 'no', { status: 503 })
const limited = (retryAfterMs: number | null, reach?: Reach) =>
  new UpstreamError('rate-limit', 'slow', { status: 429, retryAfterMs, reach })
const failWith = (error: UpstreamError, attempt: Attempt): void =>
  health.failed(attempt, error, health.trying(attempt))
const cooldown = (attempt = other, isPanic = false) => health.cooldownOf(attempt, isPanic)

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

describe('a rate limit that the provider states for all models', () => {
  test('is that of the credential, for as long as it says', () => {
    failWith(limited(20_000, 'account'), attemptAt('x/one'))
    expect(cooldown()).toEqual({ reason: 'rate-limit', until: now + 20_000 })
    expect(cooldown(other, true)).not.toBeNull()
    expect([cooldown(attemptAt('x/one', 'b')), cooldown(attemptAt('x/one', 'a', 'c2'))]).toEqual([null, null])
    expect(health.troubled().map(({ cause }) => cause)).toEqual([
      'the rate limit of A for the credential c1 is reached',
    ])
    now += 20_000
    expect(cooldown()).toBeNull()
  })

  test('does not end with the answers to requests that began before it', () => {
    const began = now
    now += 100
    failWith(limited(20_000, 'account'), attemptAt('x/one'))
    now += 400
    health.succeeded(attemptAt('x/two'), now - began)
    expect(cooldown()).not.toBeNull()
    health.succeeded(attemptAt('x/two'), 5)
    expect(cooldown()).toBeNull()
  })

  const refusal = (message: string, headers = {}, type = 'rate_limit_error') =>
    readErrorReply(429, new Headers(headers), JSON.stringify({ error: { type, message } })).reach
  const claim = (value: string) => ({ 'anthropic-ratelimit-unified-representative-claim': value })
  test('is known by sentences and headers of vendors', () => {
    expect([
      refusal('Your account org-e<ak-f> request reached max organization concurrency: 1, please try again'),
      refusal('Your account org-e<ak-f> request reached organization max RPM: 3, please try again'),
      refusal('Organization Rate limit exceeded, please try again after 1 seconds'),
      refusal('You are using a Trial key, which is limited to 40 API calls / minute'),
      refusal('Wait', claim('five_hour')),
    ]).toEqual(Array(5).fill('account'))
    expect([
      refusal('Rate limit reached for gpt-4o in organization org-x on tokens per min'),
      refusal('Wait', claim('seven_day_opus')),
    ]).toEqual([undefined, undefined])
  })
})

describe('three models that refuse within ten seconds', () => {
  test.each([
    ['failing', down],
    ['rate-limit', limited(null)],
  ] as const)('shut their credential for a second (%s)', (reason, error) => {
    for (const [index, id] of MODELS.entries()) {
      expect([index, cooldown()]).toEqual([index, null])
      failWith(error, attemptAt(id))
    }
    expect(cooldown()).toEqual({ reason, until: now + 1_000 })
    expect([cooldown(other, true), cooldown(attemptAt('x/other', 'b'))]).toEqual([null, null])
    expect(changes.map(({ message }) => message)).toContain(
      `several models of A refuse the credential c1 at once (HTTP ${error.status}); all of its models are skipped and probed until one answers`,
    )
  })

  test('do so twice as long after each failed probe of any model, until one answers', () => {
    for (const id of MODELS) failWith(down, attemptAt(id))
    for (const seconds of [2, 4, 8]) {
      now = cooldown()?.until ?? 0
      failWith(down, other)
      expect(cooldown()?.until).toBe(now + seconds * 1_000)
    }
    now += 8_000
    health.trying(other)
    health.succeeded(other, 5)
    expect(cooldown(attemptAt('x/new'))).toBeNull()
    expect(changes.at(-1)?.isWell).toBe(true)
  })

  const cases: [what: string, refuse: () => void][] = [
    [
      'one model refuses often',
      () => {
        for (const _ of MODELS) failWith(down, attemptAt('x/one'))
      },
    ],
    [
      'a model answers between them',
      () => {
        for (const id of MODELS) {
          failWith(down, attemptAt(id))
          health.succeeded(attemptAt('x/well'), 5)
        }
      },
    ],
    [
      'they take longer',
      () => {
        for (const id of MODELS) {
          failWith(down, attemptAt(id))
          now += 6_000
        }
      },
    ],
    [
      'each reports an error of its own (500)',
      () => {
        for (const id of MODELS) failWith(new UpstreamError('server', 'no', { status: 500 }), attemptAt(id))
      },
    ],
  ]
  test.each(cases)('do not if %s', (_, refuse) => {
    refuse()
    expect(cooldown()).toBeNull()
  })
})
