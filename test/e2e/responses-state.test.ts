import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { API_KEY, MANAGEMENT_KEY } from '../gateway.ts'
import { frames, paced } from '../upstream.ts'
import { refusal, replyOf, startForStoredResponses } from './responses-state-setup.ts'

/** Stored responses: retrieved, deleted and kept apart, by OpenAI’s own client. */

const CANARY = 'canary-of-stored-responses'
const { upstream, gateway, client, foreign, foreignKey, sentMessages, send } = await startForStoredResponses()

describe('a stored response', () => {
  test('is retrieved unchanged, and its generation is found by its id', async () => {
    const made = await client.responses.create({
      model: 'tiny',
      input: 'Hi',
      store: true,
      metadata: { a: 'b' },
    })
    expect(made).toMatchObject({ status: 'completed', store: true, output_text: 'Hello there' })
    expect(await client.responses.retrieve(made.id)).toEqual(made)
    const generation = await gateway.call(`/generation?id=${made.id}`)
    expect((await generation.json()).data).toMatchObject({ api_type: 'responses', finish_reason: 'stop' })
  })

  test('can be retrieved when its stream has ended, equal to the last event', async () => {
    const stream = await client.responses.create({ model: 'tiny', input: 'Hi', store: true, stream: true })
    for await (const event of stream) {
      if (event.type !== 'response.completed') continue
      const { output_text: _, ...stored } = await client.responses.retrieve(event.response.id)
      const { output_text: __, ...sent } = event.response
      expect(stored).toEqual(sent)
    }
    expect.assertions(1)
  })

  test.each([undefined, null, false])('is not stored with store: %p', async (store) => {
    const made = await client.responses.create({
      model: 'tiny',
      input: 'Hi',
      ...(store === undefined ? {} : { store }),
    })
    expect(made).toMatchObject({ store: false })
    expect((await refusal(client.responses.retrieve(made.id))).status).toBe(404)
  })

  test('has neither its input nor its output in clear on disk', async () => {
    upstream.on('tiny', replyOf([`${CANARY}-answer`]))
    const made = await client.responses.create({ model: 'tiny', input: `${CANARY}-question`, store: true })
    const { data } = await client.responses.inputItems.list(made.id)
    expect(JSON.stringify([made, data])).toContain(`${CANARY}-answer`)
    expect(JSON.stringify([made, data])).toContain(`${CANARY}-question`)
    const disk = Buffer.concat(
      readdirSync(gateway.folder, { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => readFileSync(join(gateway.folder, name))),
    )
    expect(disk.includes(made.id)).toBe(true)
    expect(disk.includes(CANARY)).toBe(false)
  })

  test('that broke off is failed, with its text so far, and cannot be continued', async () => {
    let id = ''
    const stream = await client.responses.create({ model: 'broken', input: 'Hi', store: true, stream: true })
    for await (const event of stream) if (event.type === 'response.failed') id = event.response.id
    const stored = await client.responses.retrieve(id)
    expect(stored).toMatchObject({
      status: 'failed',
      output_text: 'Half an',
      error: { code: 'server_error' },
    })
    const next = client.responses.create({ model: 'tiny', input: 'And?', previous_response_id: id })
    expect(await refusal(next)).toEqual({
      status: 400,
      message: expect.stringContaining('previous_response_id: this response is failed'),
    })
  })

  test('is cancelled if the client disconnects, with its text so far', async () => {
    const disconnect = new AbortController()
    upstream.on('tiny', () => paced(frames(['One', ' two']).slice(0, 2), 'hang'))
    let id = ''
    const stream = await client.responses.create(
      { model: 'tiny', input: 'Hi', store: true, stream: true },
      { signal: disconnect.signal },
    )
    for await (const event of stream) {
      if (event.type === 'response.created') id = event.response.id
      if (event.type === 'response.output_text.delta') disconnect.abort()
    }
    let stored = await gateway.call(`/responses/${id}`)
    // No event says when that is settled.
    while (stored.status === 404) stored = await gateway.call(`/responses/${id}`)
    expect(await stored.json()).toMatchObject({ status: 'cancelled', output_text: 'One', error: null })
    const generation = await gateway.call(`/generation?id=${id}`)
    expect((await generation.json()).data).toMatchObject({ cancelled: true })
  })

  test('that reached max_output_tokens is incomplete, and can be continued', async () => {
    const stream = await client.responses.create({ model: 'short', input: 'Hi', store: true, stream: true })
    let id = ''
    for await (const event of stream) if (event.type === 'response.incomplete') id = event.response.id
    expect((await client.responses.retrieve(id)).status).toBe('incomplete')
    await client.responses.create({ model: 'tiny', input: 'Go on', previous_response_id: id })
    expect(sentMessages()).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Cut' },
      { role: 'user', content: 'Go on' },
    ])
  })
})

describe('a request for a stored response', () => {
  const paths = [
    ['GET', ''],
    ['DELETE', ''],
    ['GET', '/input_items'],
    ['POST', '/cancel'],
    ['GET', '?stream=true'],
  ] as const

  test.each(paths)('by %s /responses/{id}%s needs a key of its workspace', async (method, rest) => {
    const { id } = await client.responses.create({ model: 'tiny', input: 'Hi', store: true })
    const bodies: unknown[] = []
    for (const [key, status] of [
      ['wrong', 401],
      [MANAGEMENT_KEY, 403],
      [foreignKey, 404],
    ] as const) {
      const response = await send(method, `/responses/${id}${rest}`, key)
      expect(response.status).toBe(status)
      bodies.push(await response.json())
    }
    const missing = await send(method, `/responses/resp_${'0'.repeat(32)}${rest}`, API_KEY)
    expect([missing.status, await missing.json()]).toEqual([404, bodies[2]])
    expect((await client.responses.retrieve(id)).id).toBe(id)
  })

  const queries: [path: string, says: string][] = [
    ['?stream=maybe', 'query parameter stream: must be true or false'],
    ['?stream=true', 'events of this response are not stored'],
    ['?starting_after=3', 'requires stream=true'],
    ['?stream=true&starting_after=-1', 'query parameter starting_after: must be an integer'],
    ['/input_items?order=up', 'query parameter order: must be "asc" or "desc"'],
    ['/input_items?limit=0', 'query parameter limit: must be an integer from 1 to 100'],
    ['/input_items?after=msg_none', 'query parameter after: there is no item'],
  ]
  test.each(queries)('by GET /responses/{id}%s is a 400', async (path, says) => {
    const { id } = await client.responses.create({ model: 'tiny', input: 'Hi', store: true })
    const response = await send('GET', `/responses/${id}${path}`, API_KEY)
    expect([response.status, (await response.json()).error.message]).toEqual([
      400,
      expect.stringContaining(says),
    ])
  })

  test('may have the lists and flags of clients', async () => {
    const { id } = await client.responses.create({ model: 'tiny', input: 'Hi', store: true })
    const include = ['reasoning.encrypted_content', 'message.output_text.logprobs'] as const
    const got = await client.responses.retrieve(id, { include: [...include], include_obfuscation: false })
    expect(got.id).toBe(id)
    const items = await client.responses.inputItems.list(id, { include: [...include] })
    expect(items.data).toHaveLength(1)
  })

  test('of another workspace cannot continue it', async () => {
    const { id } = await client.responses.create({ model: 'tiny', input: 'Hi', store: true })
    const call = foreign.responses.create({ model: 'tiny', input: 'And?', previous_response_id: id })
    const unknown = client.responses.create({
      model: 'tiny',
      input: 'And?',
      previous_response_id: 'resp_none',
    })
    const [one, two] = [await refusal(call), await refusal(unknown)]
    expect(one).toEqual({ status: 404, message: expect.stringContaining('previous_response_id') })
    expect(two).toEqual(one)
  })

  test('cannot cancel it if it does not run in the background', async () => {
    const { id } = await client.responses.create({ model: 'tiny', input: 'Hi', store: true })
    expect(await refusal(client.responses.cancel(id))).toEqual({
      status: 400,
      message: expect.stringContaining('background'),
    })
  })

  test('after it is deleted is a 404', async () => {
    const { id } = await client.responses.create({ model: 'tiny', input: 'Hi', store: true })
    const deleted = await send('DELETE', `/responses/${id}`, API_KEY)
    expect([deleted.status, await deleted.json()]).toEqual([200, { id, object: 'response', deleted: true }])
    expect((await refusal(client.responses.retrieve(id))).status).toBe(404)
    expect((await send('DELETE', `/responses/${id}`, API_KEY)).status).toBe(404)
  })
})
