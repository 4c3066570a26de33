/** Stored responses: kept, continued, listed, deleted, as the openai package does it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import OpenAI from 'openai'
import { addWorkspace } from '../admin/fixtures.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import {
  type Answer,
  chunk,
  DONE,
  type FakeUpstream,
  frames,
  paced,
  sse,
  startUpstream,
  streamed,
  unary,
  usageChunk,
} from '../upstream.ts'

const DAY_MS = 24 * 3_600_000
const CANARY = 'canary-of-stored-responses'

let upstream: FakeUpstream
let gateway: Gateway
let client: OpenAI
let foreign: OpenAI
let foreignKey: string
let at = Date.now()

const models = ['tiny', 'broken', 'short'].map((id) => ({
  id,
  pricing: { prompt: '0.000001', completion: '0.000002' },
}))
const said =
  (words: readonly string[]): Answer =>
  (seen, request) =>
    (seen.body.stream === true ? streamed(words) : unary(words.join('')))(seen, request)

beforeAll(async () => {
  upstream = startUpstream()
  gateway = await startGateway({
    listens: true,
    now: () => at,
    environment: { SLUICE_RESPONSES_RETENTION_DAYS: '7' },
    providers: [{ slug: 'lab', dialect: 'chat', base_url: upstream.baseUrl, models }],
  })
  const baseURL = `${gateway.url}/v1`
  client = new OpenAI({ apiKey: API_KEY, baseURL, maxRetries: 0 })
  foreignKey = (await addWorkspace(gateway)).key
  foreign = new OpenAI({ apiKey: foreignKey, baseURL, maxRetries: 0 })
})
beforeEach(() => {
  upstream.on('tiny', said(['Hello', ' there']))
  upstream.on('broken', () => sse([chunk({ content: 'Half an' })]))
  upstream.on('short', () => sse([chunk({ content: 'Cut' }), chunk({}, 'length'), usageChunk(), DONE]))
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const sentMessages = () => upstream.seen.at(-1)?.body.messages
/** The status and the sentence of a refusal. */
const refusal = async (call: Promise<unknown>): Promise<{ status: number | undefined; message: string }> => {
  try {
    await call
  } catch (error) {
    if (error instanceof OpenAI.APIError) return { status: error.status, message: error.message }
    throw error
  }
  throw new Error('this was expected to be refused')
}
const send = (method: string, path: string, key: string) =>
  fetch(`${gateway.url}/v1${path}`, { method, headers: { authorization: `Bearer ${key}` } })

describe('a stored response', () => {
  test('is given back as it was answered, and its generation is found by its id', async () => {
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

  test('is there when its stream has ended, as its last event told it', async () => {
    const stream = await client.responses.create({ model: 'tiny', input: 'Hi', store: true, stream: true })
    for await (const event of stream) {
      if (event.type !== 'response.completed') continue
      const { output_text: _, ...stored } = await client.responses.retrieve(event.response.id)
      const { output_text: __, ...told } = event.response
      expect(stored).toEqual(told)
    }
    expect.assertions(1)
  })

  test.each([undefined, null, false])('is not kept with store: %p', async (store) => {
    const made = await client.responses.create({
      model: 'tiny',
      input: 'Hi',
      ...(store === undefined ? {} : { store }),
    })
    expect(made).toMatchObject({ store: false })
    expect((await refusal(client.responses.retrieve(made.id))).status).toBe(404)
  })

  test('is nowhere in clear: neither what was asked nor what was answered', async () => {
    upstream.on('tiny', said([`${CANARY}-answer`]))
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

  test('that broke off is kept as failed, with what was said, and cannot be continued', async () => {
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

  test('whose caller left is kept as cancelled, with what had been said', async () => {
    const leave = new AbortController()
    upstream.on('tiny', () => paced(frames(['One', ' two']).slice(0, 2), 'hang'))
    let id = ''
    const stream = await client.responses.create(
      { model: 'tiny', input: 'Hi', store: true, stream: true },
      { signal: leave.signal },
    )
    for await (const event of stream) {
      if (event.type === 'response.created') id = event.response.id
      if (event.type === 'response.output_text.delta') leave.abort()
    }
    let stored = await gateway.call(`/responses/${id}`)
    // Nobody is told when that is settled.
    while (stored.status === 404) stored = await gateway.call(`/responses/${id}`)
    expect(await stored.json()).toMatchObject({ status: 'cancelled', output_text: 'One', error: null })
    const generation = await gateway.call(`/generation?id=${id}`)
    expect((await generation.json()).data).toMatchObject({ cancelled: true })
  })

  test('that reached its bound is incomplete, and can be continued', async () => {
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

describe('a conversation', () => {
  test('goes on where it was: what was asked and answered comes first, instructions do not', async () => {
    const first = await client.responses.create({
      model: 'tiny',
      instructions: 'Be short.',
      input: [{ role: 'user', content: 'One' }],
      store: true,
    })
    upstream.on('tiny', said(['Second']))
    const second = await client.responses.create({
      model: 'tiny',
      instructions: 'Be long.',
      input: 'Two',
      previous_response_id: first.id,
      store: true,
    })
    expect(second).toMatchObject({ previous_response_id: first.id, output_text: 'Second' })
    const third = await client.responses.create({
      model: 'tiny',
      input: 'Three',
      previous_response_id: second.id,
      stream: true,
      store: true,
    })
    for await (const event of third) expect(event.type).not.toBe('error')
    expect(sentMessages()).toEqual([
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Hello there' },
      { role: 'user', content: 'Two' },
      { role: 'assistant', content: 'Second' },
      { role: 'user', content: 'Three' },
    ])
  })

  test('continues over a call of a tool, and without an input of its own', async () => {
    upstream.on('tiny', (seen) => {
      expect(seen.body.tools).toHaveLength(1)
      return Response.json({
        id: 'up',
        choices: [
          {
            index: 0,
            finish_reason: 'tool_calls',
            message: {
              role: 'assistant',
              content: null,
              tool_calls: [
                { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } },
              ],
            },
          },
        ],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      })
    })
    const tools = [{ type: 'function' as const, name: 'add', parameters: { type: 'object' }, strict: false }]
    const asked = await client.responses.create({ model: 'tiny', input: 'Add', tools, store: true })
    upstream.on('tiny', said(['2']))
    const answered = await client.responses.create({
      model: 'tiny',
      previous_response_id: asked.id,
      input: [{ type: 'function_call_output', call_id: 'call_1', output: '2' }],
      store: true,
    })
    expect(sentMessages()).toMatchObject([
      { role: 'user', content: 'Add' },
      { role: 'assistant', tool_calls: [{ id: 'call_1', function: { name: 'add', arguments: '{"a":1}' } }] },
      { role: 'tool', tool_call_id: 'call_1', content: '2' },
    ])
    await client.responses.create({ model: 'tiny', previous_response_id: answered.id })
    expect(sentMessages()).toHaveLength(4)
    const wrong = client.responses.create({
      model: 'tiny',
      previous_response_id: asked.id,
      input: [{ type: 'function_call_output', call_id: 'call_2', output: '2' }],
    })
    expect(await refusal(wrong)).toEqual({
      status: 400,
      message: expect.stringContaining('input[0].call_id'),
    })
  })

  test('whose new items are wrong is refused at their own place', async () => {
    const first = await client.responses.create({ model: 'tiny', input: 'Hi', store: true })
    const response = await gateway.call('/responses', {
      model: 'tiny',
      previous_response_id: first.id,
      input: [
        { role: 'user', content: 'Fine' },
        { role: 'nobody', content: 'x' },
      ],
    })
    const { error } = await response.json()
    expect([response.status, error.message]).toEqual([400, expect.stringMatching(/^input\[1\]\.role: /)])
  })

  test('is kept as long as its last turn', async () => {
    const first = await client.responses.create({ model: 'tiny', input: 'One', store: true })
    at += 5 * DAY_MS
    const second = await client.responses.create({
      model: 'tiny',
      input: 'Two',
      previous_response_id: first.id,
      store: true,
    })
    at += 5 * DAY_MS
    expect((await client.responses.retrieve(first.id)).id).toBe(first.id)
    await client.responses.create({ model: 'tiny', input: 'Three', previous_response_id: second.id })
    expect(sentMessages()).toHaveLength(5)
    at += 3 * DAY_MS
    expect((await refusal(client.responses.retrieve(second.id))).status).toBe(404)
  })

  test('of which a turn was deleted is refused by name', async () => {
    const first = await client.responses.create({ model: 'tiny', input: 'One', store: true })
    const second = await client.responses.create({
      model: 'tiny',
      input: 'Two',
      previous_response_id: first.id,
      store: true,
    })
    await client.responses.delete(first.id)
    expect((await client.responses.retrieve(second.id)).id).toBe(second.id)
    const next = client.responses.create({ model: 'tiny', input: 'Three', previous_response_id: second.id })
    expect(await refusal(next)).toEqual({ status: 404, message: expect.stringContaining(first.id) })
    const left = await client.responses.inputItems.list(second.id)
    expect(left.data).toMatchObject([{ role: 'user', content: [{ text: 'Two' }] }])
  })
})

describe('items', () => {
  test('that are referred to are put in their place, each once', async () => {
    const first = await client.responses.create({ model: 'tiny', input: 'One', store: true })
    const [answer] = first.output
    const [question] = (await client.responses.inputItems.list(first.id)).data
    if (!answer?.id || !question) throw new Error('an item is missing')
    const byReference = await client.responses.create({
      model: 'tiny',
      input: [
        { type: 'item_reference', id: question.id },
        { id: answer.id },
        { role: 'user', content: 'Two' },
      ],
      store: true,
    })
    const expected = [
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Hello there' },
      { role: 'user', content: 'Two' },
    ]
    expect(sentMessages()).toEqual(expected)
    await client.responses.create({
      model: 'tiny',
      previous_response_id: first.id,
      input: [
        { type: 'item_reference', id: answer.id },
        { role: 'user', content: 'Two' },
      ],
    })
    expect(sentMessages()).toEqual(expected)
    // What was referred to is stored with the response that did.
    await client.responses.delete(first.id)
    await client.responses.create({ model: 'tiny', input: 'Three', previous_response_id: byReference.id })
    expect(sentMessages()).toHaveLength(5)
  })

  test('of another workspace, and unknown ones, are not found', async () => {
    const first = await client.responses.create({ model: 'tiny', input: 'One', store: true })
    const id = first.output[0]?.id ?? ''
    for (const [who, name] of [
      [foreign, id],
      [client, 'msg_none'],
    ] as const) {
      const call = who.responses.create({
        model: 'tiny',
        input: [
          { role: 'user', content: 'x' },
          { type: 'item_reference', id: name },
        ],
      })
      expect(await refusal(call)).toEqual({ status: 404, message: expect.stringContaining('input[1].id') })
    }
  })

  test('are listed in both orders, page by page, earlier turns included', async () => {
    const first = await client.responses.create({ model: 'tiny', input: 'One', store: true })
    const second = await client.responses.create({
      model: 'tiny',
      input: [
        { role: 'user', content: 'Two' },
        { role: 'user', content: [{ type: 'input_text', text: 'Three' }] },
      ],
      previous_response_id: first.id,
      store: true,
    })
    const texts = async (order?: 'asc' | 'desc', limit = 100) => {
      const found: unknown[] = []
      for await (const item of client.responses.inputItems.list(second.id, {
        limit,
        ...(order ? { order } : {}),
      })) {
        if (item.type === 'message')
          found.push(item.content[0] && 'text' in item.content[0] && item.content[0].text)
      }
      return found
    }
    const asked = ['One', 'Hello there', 'Two', 'Three']
    expect(await texts('asc')).toEqual(asked)
    expect(await texts()).toEqual(asked.toReversed())
    for (const limit of [1, 2, 3]) expect(await texts('asc', limit)).toEqual(asked)
    const page = await (await gateway.call(`/responses/${second.id}/input_items?order=asc&limit=2`)).json()
    expect(page).toEqual({
      object: 'list',
      data: [expect.anything(), expect.anything()],
      first_id: page.data[0].id,
      last_id: page.data[1].id,
      has_more: true,
    })
  })

  test('that a client sends back with each turn are listed once', async () => {
    const first = await client.responses.create({ model: 'tiny', input: 'One', store: true })
    const second = await client.responses.create({
      model: 'tiny',
      input: [
        { role: 'user', content: 'One' },
        ...first.output.filter((item) => item.type === 'message'),
        { role: 'user', content: 'Two' },
      ],
      store: true,
    })
    const ids: string[] = []
    for await (const item of client.responses.inputItems.list(second.id, { limit: 1 }))
      ids.push(String(item.id))
    expect(ids).toHaveLength(3)
    expect(ids[1]).toBe(first.output[0]?.id ?? '')
  })
})

test('a file stays a name: it goes along with each turn, and is gone when it is deleted', async () => {
  const form = new FormData()
  form.append('file', new Blob(['%PDF-1.7 of tides']), 'tides.pdf')
  const upload = await fetch(`${gateway.url}/v1/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}` },
    body: form,
  })
  const { id: fileId } = await upload.json()
  const first = await client.responses.create({
    model: 'tiny',
    input: [{ role: 'user', content: [{ type: 'input_file', file_id: fileId }] }],
    store: true,
  })
  const { data } = await client.responses.inputItems.list(first.id)
  expect(data).toMatchObject([{ content: [{ type: 'input_file', file_id: fileId }] }])
  await client.responses.create({ model: 'tiny', input: 'And?', previous_response_id: first.id })
  const sent = Buffer.from('%PDF-1.7 of tides').toString('base64')
  expect(JSON.stringify(sentMessages())).toContain(sent)
  expect((await send('DELETE', `/files/${fileId}`, API_KEY)).status).toBe(200)
  const next = client.responses.create({ model: 'tiny', input: 'And?', previous_response_id: first.id })
  expect(await refusal(next)).toEqual({
    status: 404,
    message: expect.stringContaining('previous_response_id (an earlier item).content[0].file_id'),
  })
})

describe('who and what is refused', () => {
  const paths = [
    ['GET', ''],
    ['DELETE', ''],
    ['GET', '/input_items'],
    ['POST', '/cancel'],
    ['GET', '?stream=true'],
  ] as const

  test.each(paths)('%s /responses/{id}%s', async (method, rest) => {
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
  test.each(queries)('GET /responses/{id}%s', async (path, says) => {
    const { id } = await client.responses.create({ model: 'tiny', input: 'Hi', store: true })
    const response = await send('GET', `/responses/${id}${path}`, API_KEY)
    expect([response.status, (await response.json()).error.message]).toEqual([
      400,
      expect.stringContaining(says),
    ])
  })

  test('lists and flags of clients are accepted', async () => {
    const { id } = await client.responses.create({ model: 'tiny', input: 'Hi', store: true })
    const include = ['reasoning.encrypted_content', 'message.output_text.logprobs'] as const
    const got = await client.responses.retrieve(id, { include: [...include], include_obfuscation: false })
    expect(got.id).toBe(id)
    const items = await client.responses.inputItems.list(id, { include: [...include] })
    expect(items.data).toHaveLength(1)
  })

  test('another workspace cannot continue it', async () => {
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

  test('one that did not run in the background cannot be cancelled', async () => {
    const { id } = await client.responses.create({ model: 'tiny', input: 'Hi', store: true })
    expect(await refusal(client.responses.cancel(id))).toEqual({
      status: 400,
      message: expect.stringContaining('background'),
    })
  })

  test('what is deleted is gone', async () => {
    const { id } = await client.responses.create({ model: 'tiny', input: 'Hi', store: true })
    const deleted = await send('DELETE', `/responses/${id}`, API_KEY)
    expect([deleted.status, await deleted.json()]).toEqual([200, { id, object: 'response', deleted: true }])
    expect((await refusal(client.responses.retrieve(id))).status).toBe(404)
    expect((await send('DELETE', `/responses/${id}`, API_KEY)).status).toBe(404)
  })
})
