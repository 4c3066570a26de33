import { describe, expect, test } from 'bun:test'
import { streamed, unary } from '../upstream.ts'
import { startForBackground, WORDS } from './responses-background-setup.ts'

/** Responses in the background: polled, rejected, cancelled and deleted. */

const { upstream, gateway, client, hold, ended, generationOf } = await startForBackground()

describe('a response in the background', () => {
  test('is queued at first, then in progress, then completed', async () => {
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

  test('is failed if it breaks off, with its text so far', async () => {
    const { id } = await client.responses.create({ model: 'broken', input: 'Hi', background: true })
    expect(await ended(id)).toMatchObject({
      status: 'failed',
      output_text: 'One',
      error: { code: 'server_error', message: expect.stringContaining('before it was complete') },
    })
    expect(await generationOf(id)).toMatchObject({ finish_reason: 'error', cancelled: false })
  })

  test('is failed with the reason of the provider, and costs nothing', async () => {
    const { id } = await client.responses.create({ model: 'refusing', input: 'Hi', background: true })
    expect(await ended(id)).toMatchObject({
      status: 'failed',
      output: [],
      error: { code: 'invalid_prompt', message: expect.stringContaining('too long') },
    })
    expect(await generationOf(id)).toMatchObject({ total_cost: 0 })
  })
})

describe('a request that is rejected at once', () => {
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

  test('of a key without remaining budget is a 402, and leaves nothing running or stored', async () => {
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

describe('cancellation', () => {
  test('ends the call of the provider, settles the delivered text, and is the same a second time', async () => {
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

  test('may come before the first text', async () => {
    upstream.on('held', () => new Promise(() => undefined))
    const { id } = await client.responses.create({ model: 'held', input: 'Hi', background: true })
    expect(await client.responses.cancel(id)).toMatchObject({ status: 'cancelled', output: [] })
    expect(gateway.deps.run.running.count()).toBe(0)
  })

  test('leaves an ended response unchanged', async () => {
    const { id } = await client.responses.create({ model: 'tiny', input: 'Hi', background: true })
    const done = await ended(id)
    const { _request_id: _, ...cancelled } = await client.responses.cancel(id)
    expect(cancelled).toMatchObject({ ...done })
  })

  test('comes with the deletion of a running response, of which nothing is left', async () => {
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

test('a background response of sluice/demo needs no provider', async () => {
  const { id } = await client.responses.create({ model: 'sluice/demo', input: 'Hi', background: true })
  expect(await ended(id)).toMatchObject({ status: 'completed', output_text: expect.stringMatching(/\w/) })
})

test('the provider streams a background response that the caller does not stream', async () => {
  upstream.on('tiny', (seen, request) =>
    (seen.body.stream === true ? streamed(WORDS) : unary('no'))(seen, request),
  )
  const { id } = await client.responses.create({ model: 'tiny', input: 'Hi', background: true })
  expect(await ended(id)).toMatchObject({ output_text: 'One two three' })
})
