import { describe, expect, test } from 'bun:test'
import { GatewayError, UpstreamError } from '../../../src/core/errors.ts'
import { createHealth } from '../../../src/inference/routing/health.ts'
import { isShut, plan } from '../../../src/inference/routing/plan.ts'
import { createRetryBudget } from '../../../src/inference/upstream/retry-budget.ts'
import { caller, directory, endpoint, model, provider, request, snapshot } from '../fixture.ts'

/**
 * Outages under a clock of the test's own: plans, attempts and retries as `attempts.ts` makes them, without a network.
 * Each run has a seed of its own for jitter and order.
 */

interface Result {
  readonly at: number
  readonly isAnswered: boolean
}

function world(seed: number, endpointCount: number, callMs: number) {
  let now = 1_000_000
  let state = seed * 2_654_435 + 1
  const random = () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  const retries = createRetryBudget(() => now)
  const health = createHealth({
    clock: () => now,
    random,
    mayRetry: retries.hasLeft,
    onChange: () => undefined,
  })
  const slugs = Array.from({ length: endpointCount }, (_, index) => `p${index}`)
  const records = slugs.map((slug) => provider(slug, { baseUrl: `http://${slug}.test/v1` }))
  const models = directory([
    model(
      'lab/tiny',
      slugs.map((slug) => endpoint(slug, 'lab/tiny')),
    ),
  ])
  const input = { request: request(), caller: caller(), snapshot: snapshot(records, models), random }
  const events: { at: number; run(): void }[] = []
  const results: Result[] = []
  let calls = 0
  const later = (ms: number, run: () => void): void => {
    const at = now + ms
    const index = events.findLastIndex((event) => event.at <= at)
    events.splice(index + 1, 0, { at, run })
  }
  const end = (isAnswered: boolean): void => {
    results.push({ at: now, isAnswered })
  }
  /** One request; `isWell` decides each call when it ends. */
  function ask(isWell: (slug: string) => boolean): void {
    retries.countRequest()
    try {
      const planned = plan({ ...input, now, cooldownOf: health.cooldownOf })
      const queue = [...planned.attempts]
      const next = (isRetry: boolean): void => {
        let attempt = queue.shift()
        while (attempt && isShut(attempt, planned, health.cooldownOf)) attempt = queue.shift()
        if (!attempt || (isRetry && !retries.take())) {
          end(false)
          return
        }
        const tried = attempt
        const startedAt = now
        calls += 1
        const began = health.trying(tried)
        const good = isWell(tried.provider.slug)
        later(callMs * (0.5 + random()), () => {
          if (good) {
            health.succeeded(tried, now - startedAt)
            end(true)
            return
          }
          health.failed(tried, new UpstreamError('server', 'down', { status: 503 }), began)
          next(true)
        })
      }
      next(false)
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      end(false)
    }
  }
  return {
    ask,
    results,
    now: () => now,
    calls: () => calls,
    /** Lets `ms` pass, with everything that ends in them. */
    pass(ms: number): void {
      const until = now + ms
      for (let event = events[0]; event && event.at <= until; event = events[0]) {
        events.shift()
        now = event.at
        event.run()
      }
      now = until
    },
  }
}

/** Until the first answer after `from`, with a request every `everyMs`. */
function recoveryMs(running: ReturnType<typeof world>, everyMs: number): number {
  const from = running.now()
  const firstIndex = running.results.length
  for (let passed = 0; passed < 20_000; passed += everyMs) {
    running.ask(() => true)
    running.pass(everyMs)
    const answered = running.results.slice(firstIndex).find(({ isAnswered }) => isAnswered)
    if (answered) return answered.at - from
  }
  return Number.POSITIVE_INFINITY
}

describe.each([1, 2])('a burst of failures at %d endpoints', (endpointCount) => {
  test.each([1, 2, 3, 4, 5, 10, 15, 20, 30, 50])(
    '%d at once: answers within 1.5 s of the recovery',
    (burst) => {
      for (let seed = 1; seed <= 20; seed++) {
        const running = world(seed, endpointCount, 40)
        for (let i = 0; i < burst; i++) running.ask(() => false)
        running.pass(1_000)
        expect(recoveryMs(running, 20)).toBeLessThanOrEqual(1_500)
      }
    },
  )

  test.each([1, 5, 20, 50])('%d one after the other: answers within 1.5 s of the recovery', (burst) => {
    for (let seed = 1; seed <= 20; seed++) {
      const running = world(seed, endpointCount, 40)
      for (let i = 0; i < burst; i++) {
        running.ask(() => false)
        running.pass(100)
      }
      expect(recoveryMs(running, 20)).toBeLessThanOrEqual(1_500)
    }
  })
})

const RUNS = 20

describe.each([200, 500])('everything down for a minute at %d requests a second', (rate) => {
  test.each([10, 500])('with failures after about %d ms: few calls, and answers within 5 s', (callMs) => {
    const recoveries: number[] = []
    for (let seed = 1; seed <= 20; seed++) {
      const running = world(seed, 2, callMs)
      for (let i = 0; i < 60 * rate; i++) {
        running.ask(() => false)
        running.pass(1_000 / rate)
      }
      expect(running.calls() / (60 * rate)).toBeLessThanOrEqual(1.2)
      expect(running.results.some(({ isAnswered }) => isAnswered)).toBe(false)
      recoveries.push(recoveryMs(running, 1_000 / rate))
    }
    recoveries.sort((a, b) => a - b)
    // The 95th percentile.
    expect(recoveries[Math.ceil(0.95 * RUNS) - 1]).toBeLessThanOrEqual(5_000)
  })
})

describe('one of two endpoints that fails', () => {
  const run = (rate: number, seconds: number, isWell: (running: ReturnType<typeof world>) => boolean) => {
    const running = world(7, 2, 50)
    for (let i = 0; i < rate * seconds; i++) {
      running.ask((slug) => slug === 'p1' || isWell(running))
      running.pass(1_000 / rate)
    }
    running.pass(1_000)
    const answered = running.results.filter(({ isAnswered }) => isAnswered).length
    return { success: answered / running.results.length, amplification: running.calls() / (rate * seconds) }
  }

  test.each([1, 5, 50, 200, 500])('always, at %d a second: every request is answered', (rate) => {
    const { success, amplification } = run(rate, 60, () => false)
    expect(success).toBeGreaterThanOrEqual(0.999)
    expect(amplification).toBeLessThanOrEqual(1.2)
  })

  test.each([5, 50, 200, 500])('every other call, at %d a second: 99.9 % are answered', (rate) => {
    let count = 0
    const { success, amplification } = run(rate, 60, () => count++ % 2 === 0)
    expect(success).toBeGreaterThanOrEqual(0.999)
    expect(amplification).toBeLessThanOrEqual(1.2)
  })

  test.each([5, 50, 200])('every other half second, at %d a second: 99.9 % are answered', (rate) => {
    const { success, amplification } = run(rate, 60, (running) => Math.floor(running.now() / 500) % 2 === 0)
    expect(success).toBeGreaterThanOrEqual(0.999)
    expect(amplification).toBeLessThanOrEqual(1.2)
  })
})
