import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { dataLines, frames, sse, startUpstream, unary } from '../upstream.ts'

/** A second endpoint is called beside one without content; the first with content answers. */

const upstream = startUpstream()
const pricing = { prompt: '0.00001', completion: '0.00002' }
const entry = (slug: string, ids: string[]) => ({
  slug,
  name: slug.toUpperCase(),
  base_url: `${upstream.baseUrl}/${slug}`,
  models: ids.map((id) => ({ id, pricing, max_completion_tokens: 100 })),
})
const gateway = await gatewayOfFile(
  {
    providers: [entry('slow', ['tiny', 'lone']), entry('fast', ['tiny', 'other'])],
  },
  upstream,
)
const { run } = gateway.deps
const passed = async (): Promise<void> => undefined
const never = (_: number, signal: AbortSignal): Promise<void> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
let waits: number[] = []
run.wait = (ms) => {
  waits.push(ms)
  return passed()
}

/** What each provider replies; a call to `slow` ends only when the test or the gateway ends it. */
const answered = (): Response =>
  Response.json({
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'First' } }],
  })
let aborted: string[] = []
const held = (slug: string, release: Promise<Response>) => (_: unknown, request: Request) => {
  request.signal.addEventListener('abort', () => aborted.push(slug))
  return release
}
type Answer = Parameters<typeof upstream.on>[1]
const answers = (slow: Answer, fast: Answer, model = 'tiny'): void =>
  upstream.on(model, (seen, request) => (seen.path.includes('/slow/') ? slow : fast)(seen, request))
const hanging = (slug: string): Answer => held(slug, new Promise(() => undefined))

const ask = (more: object = {}, key?: string) => {
  const { provider, ...rest }: { provider?: object } = { ...more }
  const body = {
    model: 'tiny',
    max_tokens: 50,
    messages: [{ role: 'user', content: 'Hi' }],
    provider: { order: ['slow', 'fast'], hedge_ms: 300, ...provider },
    ...rest,
  }
  return gateway.call('/chat/completions', body, {
    'x-service-metadata': 'enabled',
    ...(key && { authorization: `Bearer ${key}` }),
  })
}
const called = () => upstream.seen.map(({ path }) => (path.includes('/slow/') ? 'slow' : 'fast'))
const rows = async (count: number) => {
  while (gateway.generations().length < count) await Bun.sleep(1)
  return gateway.generations()
}

let before = 0
beforeEach(() => {
  // Failures of one test must not shut an endpoint for the next one.
  run.health.forget('none')
  before = gateway.generations().length
  upstream.seen.length = 0
  aborted = []
  waits = []
})
afterEach(async () => {
  for (let tries = 0; tries < 1_000 && run.ledger.heldNanoUsd() > 0; tries++) await Bun.sleep(1)
  expect(run.ledger.heldNanoUsd()).toBe(0)
})

describe('a request without content', () => {
  test.each([false, true])('is answered by the second endpoint (streamed: %p)', async (stream) => {
    answers(hanging('slow'), stream ? () => sse(frames(['Hel', 'lo'])) : unary('Hello'))
    const reply = await ask({ stream })
    expect(reply.status).toBe(200)
    const id = reply.headers.get('x-generation-id')
    const text = stream ? (await dataLines(reply)).join('') : await reply.text()
    expect(text).toContain(stream ? 'lo' : 'Hello')
    expect([called(), waits]).toEqual([['slow', 'fast'], [300]])
    const [loser, winner] = (await rows(before + 2))
      .slice(before)
      .toSorted((row) => (row['id'] === id ? 1 : -1))
    expect(winner).toMatchObject({ id, provider_slug: 'fast', finish_reason: 'stop', parent_id: null })
    expect(loser).toMatchObject({
      provider_slug: 'slow',
      cancelled: 1,
      parent_id: id,
      usage_source: 'estimated',
    })
    expect(Number(loser?.['cost_nano_usd'])).toBeGreaterThan(0)
    while (aborted.length === 0) await Bun.sleep(1)
    expect(aborted).toEqual(['slow'])
  })

  test('costs its caller both endpoints, and the metadata shows both attempts', async () => {
    answers(hanging('slow'), unary('Hello'))
    const { usage, service_metadata } = await (await ask()).json()
    const cost = (await rows(before + 2))
      .slice(before)
      .reduce((sum, row) => sum + Number(row['cost_nano_usd']), 0)
    expect(Math.round(usage.cost * 1e9)).toBe(cost)
    expect(service_metadata.attempts).toMatchObject([
      { provider: 'SLOW', status: 0, code: 'hedged' },
      { provider: 'FAST', status: 200 },
    ])
    expect(service_metadata.summary).toContain('selected=FAST')
  })

  test('is answered by the first endpoint if that has content first', async () => {
    const { promise, resolve } = Promise.withResolvers<Response>()
    answers(held('slow', promise), (_, request) => {
      request.signal.addEventListener('abort', () => aborted.push('fast'))
      resolve(answered())
      return new Promise<Response>(() => undefined)
    })
    const reply = await ask()
    const id = reply.headers.get('x-generation-id')
    expect((await reply.json()).choices[0].message.content).toBe('First')
    expect((await rows(before + 2)).slice(before)).toContainEqual(
      expect.objectContaining({ provider_slug: 'fast', parent_id: id, cancelled: 1 }),
    )
    expect(gateway.generations().find((row) => row['id'] === id)).toMatchObject({ provider_slug: 'slow' })
  })

  test('of an endpoint that then fails is answered by the second one, and pays that alone', async () => {
    answers(() => Response.json({ error: { message: 'down' } }, { status: 503 }), unary('Hello'))
    expect((await ask()).status).toBe(200)
    const costs = gateway
      .generations()
      .slice(before)
      .map((row) => [row['provider_slug'], Number(row['cost_nano_usd']) > 0])
    expect(costs).toContainEqual(['fast', true])
    expect(costs).not.toContainEqual(['slow', true])
  })

  test('of two endpoints that fail is refused for free', async () => {
    const down: Answer = () => Response.json({ error: { message: 'down' } }, { status: 503 })
    answers(down, down)
    expect((await ask()).status).toBe(502)
    const costs = gateway
      .generations()
      .slice(before)
      .map((row) => row['cost_nano_usd'])
    expect(costs.every((cost) => cost === 0)).toBe(true)
  })
})

describe('no second endpoint is called', () => {
  test('if the first one has content before the time', async () => {
    run.wait = never
    answers(unary('Hello'), unary('Hello'))
    expect((await ask()).status).toBe(200)
    expect(called()).toEqual(['slow'])
    run.wait = passed
  })
  test.each([
    ['without hedge_ms', { provider: { hedge_ms: 0 } }],
    ['if no other endpoint may serve it', { provider: { only: ['slow'] } }],
    ['if fall-backs are not permitted', { provider: { order: ['slow'], allow_fallbacks: false } }],
    ['of a model that has one endpoint', { model: 'lone', models: ['lone', 'other'] }],
  ])('%s', async (_, more) => {
    const { promise, resolve } = Promise.withResolvers<Response>()
    for (const model of ['tiny', 'lone']) answers(held('slow', promise), unary('Hello'), model)
    const reply = ask(more)
    while (called().length === 0) await Bun.sleep(1)
    resolve(answered())
    expect((await reply).status).toBe(200)
    expect(called()).toEqual(['slow'])
  })

  test('if the gateway has no retry left', async () => {
    const { retries } = run
    Object.assign(run, { retries: { ...retries, hasLeft: () => false } })
    const { promise, resolve } = Promise.withResolvers<Response>()
    answers(held('slow', promise), unary('Hello'))
    const reply = ask()
    while (called().length === 0) await Bun.sleep(1)
    resolve(answered())
    expect((await reply).status).toBe(200)
    expect(called()).toEqual(['slow'])
    Object.assign(run, { retries })
  })

  test('if a limit has no room for both reservations', async () => {
    // One reserves about 0.001 USD.
    const { key } = await gateway.makeKey({ limit: 0.0015 })
    const { promise, resolve } = Promise.withResolvers<Response>()
    answers(held('slow', promise), unary('Hello'))
    const reply = ask({}, key)
    while (called().length === 0) await Bun.sleep(1)
    resolve(answered())
    expect((await reply).status).toBe(200)
    expect(called()).toEqual(['slow'])
  })
})

test('the setting hedges requests that do not say', async () => {
  Object.assign(run, { hedgeMs: 700 })
  run.wait = (ms) => {
    waits.push(ms)
    return passed()
  }
  answers(hanging('slow'), unary('Hello'))
  expect((await ask({ provider: { hedge_ms: null } })).status).toBe(200)
  expect(waits).toEqual([700])
  Object.assign(run, { hedgeMs: 0 })
  await rows(before + 2)
})

test('a client that disconnects while both run cancels both, and both are settled', async () => {
  answers(hanging('slow'), hanging('fast'))
  const controller = new AbortController()
  const reply = gateway.abortable(
    '/chat/completions',
    {
      model: 'tiny',
      max_tokens: 50,
      messages: [{ role: 'user', content: 'Hi' }],
      provider: { order: ['slow', 'fast'], hedge_ms: 1 },
    },
    {},
    controller.signal,
  )
  while (called().length < 2) await Bun.sleep(1)
  controller.abort()
  await reply.catch(() => undefined)
  const settled = (await rows(before + 2)).slice(before)
  expect(settled.map((row) => [row['cancelled'], Number(row['cost_nano_usd']) > 0])).toEqual([
    [1, true],
    [1, true],
  ])
  while (aborted.length < 2) await Bun.sleep(1)
  expect(objectOf(settled[0])['usage_source']).toBe('estimated')
})
