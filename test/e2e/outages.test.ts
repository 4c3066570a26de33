import { beforeEach, describe, expect, test } from 'bun:test'
import { gatewayOfFile } from '../file-setup.ts'
import { type Answer, startUpstream, unary } from '../upstream.ts'

/** Providers that are down and come back, on a clock of the test. Nothing waits. */

const providers = [startUpstream(), startUpstream()] as const
const BURSTS = [1, 4, 15, 30, 50]
const ONE = BURSTS.map((burst) => `one-${burst}`)
const TWO = BURSTS.map((burst) => `two-${burst}`)
const DOWN = Array.from({ length: 20 }, (_, index) => `down-${index}`)
const entry = (slug: string, baseUrl: string, models: readonly string[]) => ({
  slug,
  dialect: 'chat',
  base_url: baseUrl,
  models: models.map((id) => ({ id, pricing: { prompt: '0', completion: '0' } })),
})
let now = 1_790_000_000_000
const gateway = await gatewayOfFile(
  {
    now: () => now,
    boundsRetries: true,
    providers: [
      entry('first', providers[0].baseUrl, ['half', ...ONE, ...TWO, ...DOWN]),
      entry('second', providers[1].baseUrl, ['half', ...TWO, ...DOWN]),
    ],
  },
  ...providers,
)
let waits = 0
gateway.deps.run.wait = async (ms) => {
  waits += 1
  now += ms
}

const failing: Answer = () => new Response('{}', { status: 503 })
const answering = unary('an answer')
const setAll = (models: readonly string[], answer: Answer) => {
  for (const provider of providers) for (const model of models) provider.on(model, answer)
}
const calls = (): number => providers[0].seen.length + providers[1].seen.length
const statusOf = async (model: string): Promise<number> => {
  const reply = await gateway.call('/chat/completions', {
    model,
    messages: [{ role: 'user', content: 'Hello' }],
  })
  await reply.text()
  return reply.status
}
/** Milliseconds on the test's clock until a request every 100 ms is answered. */
async function recoveryMs(model: string, mostMs: number): Promise<number> {
  for (let ms = 0; ms <= mostMs; ms += 100) {
    if ((await statusOf(model)) === 200) return ms
    now += 100
  }
  return Number.POSITIVE_INFINITY
}

beforeEach(() => {
  // Retries that an earlier test made are forgotten.
  now += 60_000
  for (const provider of providers) provider.seen.length = 0
})

describe('after a burst of failures a model is answered again within 1.5 s', () => {
  test.each([...ONE, ...TWO])('%s', async (model) => {
    setAll([model], failing)
    const burst = Number(model.split('-')[1])
    const statuses = await Promise.all(Array.from({ length: burst }, () => statusOf(model)))
    expect(Math.min(...statuses)).toBeGreaterThanOrEqual(500)
    setAll([model], answering)
    expect(await recoveryMs(model, 2_000)).toBeLessThanOrEqual(1_500)
  })
})

test('with one of two providers failing half of its calls every request is answered, by at most 1.2 calls each', async () => {
  let turn = 0
  setAll(['half'], answering)
  providers[0].on('half', (seen, request) => (turn++ % 2 === 0 ? failing : answering)(seen, request))
  const requests = 400
  for (let index = 0; index < requests; index++) {
    expect(await statusOf('half')).toBe(200)
    now += 10
  }
  expect(providers[0].seen.length).toBeGreaterThan(0)
  expect(calls() / requests).toBeLessThanOrEqual(1.2)
})

test('with everything down providers get a fifth more calls than requests, and three; every model is answered within 5 s after it', async () => {
  setAll(DOWN, failing)
  const requests = 500
  for (let index = 0; index < requests; index++) {
    // From now on every breaker is open, and no caller waits for a second attempt.
    if (index === 10 * DOWN.length) waits = 0
    expect(await statusOf(DOWN[index % DOWN.length] ?? '')).toBeGreaterThanOrEqual(500)
    now += 20
  }
  expect(calls()).toBeLessThanOrEqual(requests * 1.2 + 3)
  expect(waits).toBe(0)
  setAll(DOWN, answering)
  let waiting: string[] = DOWN
  for (let ms = 0; ms <= 5_000 && waiting.length > 0; ms += 100) {
    const still: string[] = []
    for (const model of waiting) if ((await statusOf(model)) !== 200) still.push(model)
    waiting = still
    now += 100
  }
  expect(waiting).toEqual([])
})
