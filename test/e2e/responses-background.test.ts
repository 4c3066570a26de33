/** Responses that run without their caller's connection, as the openai package asks for them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { API_KEY, type Gateway, startGateway } from '../gateway.ts'
import { type FakeUpstream, frames, paced, sse, startUpstream, streamed, unary } from '../upstream.ts'

let upstream: FakeUpstream
let gateway: Gateway
let client: OpenAI

const models = ['tiny', 'held', 'broken', 'refusing'].map((id) => ({
  id,
  pricing: { prompt: '0.000001', completion: '0.000002' },
}))
const WORDS = ['One', ' two', ' three']

/** What holds the model `held` in the middle of its answer: after its first word. */
interface Gate {
  /** Resolves when the first word has been sent. */
  readonly reached: Promise<void>
  open(): void
}

function hold(): Gate {
  const reached = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  let sent = 0
  upstream.on('held', () =>
    paced(frames(WORDS), 'close', async () => {
      sent += 1
      if (sent !== 3) return
      reached.resolve()
      await opened.promise
    }),
  )
  return { reached: reached.promise, open: opened.resolve }
}

beforeAll(async () => {
  upstream = startUpstream()
  gateway = await startGateway({
    listens: true,
    providers: [{ slug: 'lab', dialect: 'chat', base_url: upstream.baseUrl, models }],
  })
  client = new OpenAI({ apiKey: API_KEY, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
})
beforeEach(() => {
  upstream.on('tiny', streamed(WORDS))
  upstream.on('broken', () => sse(frames(WORDS).slice(0, 2)))
  upstream.on('refusing', () =>
    Response.json({ error: { message: 'the text is too long', code: 'too_long' } }, { status: 400 }),
  )
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

/** Asks until it has ended. */
async function ended(id: string): Promise<OpenAI.Responses.Response> {
  for (;;) {
    const response = await client.responses.retrieve(id)
    if (response.status !== 'queued' && response.status !== 'in_progress') return response
  }
}
const generationOf = async (id: string) => {
  const response = await gateway.call(`/generation?id=${id}`)
  return (await response.json()).data
}
type Event = OpenAI.Responses.ResponseStreamEvent
async function all(stream: AsyncIterable<Event>): Promise<Event[]> {
  const events: Event[] = []
  for await (const event of stream) events.push(event)
  return events
}
const numbers = (events: readonly Event[]): number[] => events.map(({ sequence_number }) => sequence_number)
const from = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index)

describe('polling', () => {
  test('queued at once, then in progress, then completed', async () => {
    const gate = hold()
    const queued = await client.responses.create({
      model: 'held',
      input: 'Hi',
      background: true,
      store: true,
    })
    expect(queued).toMatchObject({
      status: 'queued',
      output: [],
      background: true,
      error: null,
      completed_at: null,
    })
    await gate.reached
    expect(await client.responses.retrieve(queued.id)).toMatchObject({ status: 'in_progress', output: [] })
    const early = await gateway.call('/responses', {
      model: 'tiny',
      input: 'x',
      previous_response_id: queued.id,
    })
    expect([early.status, (await early.json()).error.message]).toEqual([
      400,
      expect.stringContaining('this response is in_progress'),
    ])
    gate.open()
    expect(await ended(queued.id)).toMatchObject({
      id: queued.id,
      status: 'completed',
      output_text: 'One two three',
    })
    expect(await generationOf(queued.id)).toMatchObject({
      api_type: 'responses',
      cancelled: false,
      usage: 0.00002,
    })
  })

  test('is continued like any other', async () => {
    const first = await client.responses.create({ model: 'tiny', input: 'Hi', background: true })
    await ended(first.id)
    const next = await client.responses.create({
      model: 'tiny',
      input: 'And?',
      previous_response_id: first.id,
      background: true,
    })
    expect(await ended(next.id)).toMatchObject({ previous_response_id: first.id, status: 'completed' })
    expect(upstream.seen.at(-1)?.body.messages).toHaveLength(3)
  })

  test('an answer that breaks off is failed, and what was said stays', async () => {
    const { id } = await client.responses.create({ model: 'broken', input: 'Hi', background: true })
    expect(await ended(id)).toMatchObject({
      status: 'failed',
      output_text: 'One',
      error: { code: 'server_error', message: expect.stringContaining('before it was complete') },
    })
    expect(await generationOf(id)).toMatchObject({ finish_reason: 'error', cancelled: false })
  })

  test("a provider's refusal is a failed response that says why, and costs nothing", async () => {
    const { id } = await client.responses.create({ model: 'refusing', input: 'Hi', background: true })
    expect(await ended(id)).toMatchObject({
      status: 'failed',
      output: [],
      error: { code: 'invalid_prompt', message: expect.stringContaining('too long') },
    })
    expect(await generationOf(id)).toMatchObject({ total_cost: 0 })
  })
})

describe('what is refused at once', () => {
  const refusals: [body: Record<string, unknown>, status: number, says: string][] = [
    [{ store: false }, 400, 'store: must not be false'],
    [{ model: 'nobody/none' }, 404, 'none'],
    [{ previous_response_id: 'resp_none' }, 404, 'previous_response_id'],
    [{ background: 'yes' }, 400, 'background'],
    [{ input: [{ role: 'nobody', content: 'x' }] }, 400, 'input[0].role'],
  ]
  test.each(refusals)('%o is %d', async (body, status, says) => {
    const response = await gateway.call('/responses', {
      model: 'tiny',
      input: 'Hi',
      background: true,
      ...body,
    })
    expect([response.status, (await response.json()).error.message]).toEqual([
      status,
      expect.stringContaining(says),
    ])
  })

  test('a key without room is 402, and nothing is left running or stored', async () => {
    const { key } = await gateway.makeKey({ limit: 0.000001 })
    const before = gateway.bodies.file.query('SELECT count(*) AS n FROM responses').get()
    const response = await gateway.call(
      '/responses',
      { model: 'tiny', input: 'Hi', background: true, max_output_tokens: 1000 },
      { authorization: `Bearer ${key}` },
    )
    expect(response.status).toBe(402)
    expect(gateway.bodies.file.query('SELECT count(*) AS n FROM responses').get()).toEqual(before)
    expect(gateway.deps.run.running.count()).toBe(0)
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  })
})

describe('cancelling', () => {
  test('stops the provider, settles what was delivered, and is the same a second time', async () => {
    const gate = hold()
    const { id } = await client.responses.create({ model: 'held', input: 'Hi', background: true })
    await gate.reached
    const cancelled = await client.responses.cancel(id)
    expect(cancelled).toMatchObject({ id, status: 'cancelled', error: null, completed_at: null })
    expect(await client.responses.cancel(id)).toEqual(cancelled)
    expect(await client.responses.retrieve(id)).toMatchObject({ status: 'cancelled' })
    const generation = await generationOf(id)
    expect(generation).toMatchObject({ cancelled: true, usage_source: 'estimated' })
    expect(generation.total_cost).toBeGreaterThan(0)
    expect(gateway.deps.run.running.count()).toBe(0)
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
    gate.open()
  })

  test('before the provider has said anything', async () => {
    upstream.on('held', () => new Promise(() => undefined))
    const { id } = await client.responses.create({ model: 'held', input: 'Hi', background: true })
    expect(await client.responses.cancel(id)).toMatchObject({ status: 'cancelled', output: [] })
    expect(gateway.deps.run.running.count()).toBe(0)
  })

  test('one that has ended is left as it is', async () => {
    const { id } = await client.responses.create({ model: 'tiny', input: 'Hi', background: true })
    const done = await ended(id)
    const { _request_id: _, ...cancelled } = await client.responses.cancel(id)
    expect(cancelled).toMatchObject({ ...done })
  })

  test('deleting one that runs stops it, and nothing of it comes back', async () => {
    const gate = hold()
    const { id } = await client.responses.create({
      model: 'held',
      input: 'Hi',
      background: true,
      stream: false,
    })
    await gate.reached
    await client.responses.delete(id)
    expect((await gateway.call(`/responses/${id}`)).status).toBe(404)
    expect(await generationOf(id)).toMatchObject({ cancelled: true })
    expect(gateway.bodies.file.query('SELECT 1 FROM response_parts WHERE response_id = ?').get(id)).toBeNull()
    gate.open()
  })
})

describe('streaming', () => {
  test('events come as they are, and come again from any of them', async () => {
    const events = await all(
      await client.responses.create({ model: 'tiny', input: 'Hi', background: true, stream: true }),
    )
    const last = events.length - 1
    expect(numbers(events)).toEqual(from(0, last))
    expect(events.at(0)?.type).toBe('response.created')
    const end = events.at(-1)
    if (end?.type !== 'response.completed') throw new Error(`it ended with ${end?.type}`)
    const { id } = end.response
    for (const after of [undefined, 0, 4, last - 1, last]) {
      const query = after === undefined ? {} : { starting_after: after }
      const again = await all(await client.responses.retrieve(id, { stream: true, ...query }))
      expect(again).toEqual(events.slice(after === undefined ? 0 : after + 1))
    }
    const helper = client.responses.stream({ response_id: id })
    expect((await helper.finalResponse()).output_text).toBe('One two three')
  })

  test('goes on when the caller leaves; others follow it from where they were', async () => {
    const gate = hold()
    const first: Event[] = []
    const stream = await client.responses.create({
      model: 'held',
      input: 'Hi',
      background: true,
      stream: true,
    })
    for await (const event of stream) {
      first.push(event)
      if (event.type === 'response.output_text.delta') break
    }
    const created = first[0]
    if (created?.type !== 'response.created') throw new Error('it did not begin with response.created')
    const { id } = created.response
    const seen = first.at(-1)?.sequence_number ?? -1
    const followers = [
      all(await client.responses.retrieve(id, { stream: true, starting_after: seen })),
      all(await client.responses.retrieve(id, { stream: true })),
    ]
    gate.open()
    const [rest = [], whole = []] = await Promise.all(followers)
    expect([...first, ...rest]).toEqual(whole)
    expect(whole.at(-1)).toMatchObject({
      type: 'response.completed',
      response: { output_text: 'One two three' },
    })
    expect(await client.responses.retrieve(id)).toMatchObject({ status: 'completed' })
    expect(await generationOf(id)).toMatchObject({ cancelled: false })
  })

  test('one that is cancelled ends for its followers too', async () => {
    const gate = hold()
    const stream = await client.responses.create({
      model: 'held',
      input: 'Hi',
      background: true,
      stream: true,
    })
    const following = all(stream)
    await gate.reached
    const [running] = gateway.bodies.file
      .query<{ id: string }, []>("SELECT id FROM responses WHERE status = 'in_progress'")
      .all()
    const id = String(running?.id)
    await client.responses.cancel(id)
    const events = await following
    expect(numbers(events)).toEqual(from(0, events.length - 1))
    expect(events.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: { id, status: 'cancelled' },
    })
    expect(await all(await client.responses.retrieve(id, { stream: true }))).toEqual(events)
    gate.open()
  })

  test('a failure is an event, also before anybody answered', async () => {
    const events = await all(
      await client.responses.create({ model: 'refusing', input: 'Hi', background: true, stream: true }),
    )
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.failed',
    ])
  })

  test('a long answer is kept in stretches, and read again whole', async () => {
    const words = Array.from({ length: 3_000 }, (_, index) => `${index},`)
    upstream.on('tiny', streamed(words))
    const events = await all(
      await client.responses.create({ model: 'tiny', input: 'Count', background: true, stream: true }),
    )
    const end = events.at(-1)
    if (end?.type !== 'response.completed') throw new Error(`it ended with ${end?.type}`)
    // The end is told before the last stretch is stored.
    await gateway.deps.responses.background.find(end.response.id)?.ended
    const stretches = gateway.bodies.file
      .query<{ first: number; last: number }, [string]>(
        "SELECT first, last FROM response_parts WHERE response_id = ? AND part = 'events' ORDER BY first",
      )
      .all(end.response.id)
    expect(stretches.length).toBeGreaterThan(1)
    for (const [index, { first }] of stretches.entries())
      expect(first).toBe(index === 0 ? 0 : Number(stretches[index - 1]?.last) + 1)
    const again = await all(await client.responses.retrieve(end.response.id, { stream: true }))
    expect(again).toHaveLength(events.length)
    expect(again).toEqual(events)
  })

  test('only what was asked for as a stream keeps its events', async () => {
    const { id } = await client.responses.create({ model: 'tiny', input: 'Hi', background: true })
    await ended(id)
    const response = await gateway.call(`/responses/${id}?stream=true`)
    expect([response.status, (await response.json()).error.message]).toEqual([
      400,
      expect.stringContaining('events of this response are not stored'),
    ])
  })
})

test('a run of sluice/demo needs no provider', async () => {
  const { id } = await client.responses.create({ model: 'sluice/demo', input: 'Hi', background: true })
  expect(await ended(id)).toMatchObject({ status: 'completed', output_text: expect.stringMatching(/\w/) })
})

test('what was not asked for as a stream is asked of the provider as one', async () => {
  upstream.on('tiny', (seen, request) =>
    (seen.body.stream === true ? streamed(WORDS) : unary('no'))(seen, request),
  )
  const { id } = await client.responses.create({ model: 'tiny', input: 'Hi', background: true })
  expect(await ended(id)).toMatchObject({ output_text: 'One two three' })
})
