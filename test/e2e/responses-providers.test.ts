/** Stored conversations with providers of several dialects: their answers and thoughts are sent back to them. */
import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { createBackgroundRuns } from '../../src/inference/responses/background.ts'
import { createResponse } from '../../src/inference/responses/create.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { API_KEY } from '../gateway.ts'
import { incomingOf } from '../incoming.ts'
import { sse, startUpstream, streamed, unary } from '../upstream.ts'

let client: OpenAI

const priced = (id: string) => ({ id, pricing: { prompt: '0.000001', completion: '0.000002' } })

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    listens: true,
    providers: [
      { slug: 'chat', dialect: 'chat', base_url: upstream.baseUrl, models: [priced('plain')] },
      { slug: 'own', dialect: 'responses', base_url: upstream.baseUrl, models: [priced('reasoner')] },
      { slug: 'other', dialect: 'messages', base_url: upstream.baseUrl, models: [priced('thinker')] },
    ],
  },
  upstream,
)
client = new OpenAI({ apiKey: API_KEY, baseURL: `${gateway.url}/v1`, maxRetries: 0 })

const THOUGHT = { id: 'rs_up', type: 'reasoning', summary: [], encrypted_content: 'opaque-thought' }
const CALL = {
  id: 'fc_up',
  type: 'function_call',
  call_id: 'call_1',
  name: 'add',
  arguments: '{"a":1}',
  status: 'completed',
}
const ownReply = (output: unknown[]) => ({
  id: 'resp_upstream',
  object: 'response',
  created_at: 1_700_000_000,
  status: 'completed',
  model: 'reasoner',
  output,
  usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
})
const tools = [{ type: 'function' as const, name: 'add', parameters: { type: 'object' }, strict: false }]

test('a provider of the same dialect gets its thoughts back, and nothing of our state', async () => {
  upstream.on('reasoner', () => Response.json(ownReply([THOUGHT, CALL])))
  const first = await client.responses.create({ model: 'reasoner', input: 'Add', tools, store: true })
  expect(first.id).not.toBe('resp_upstream')
  await client.responses.create({
    model: 'reasoner',
    tools,
    previous_response_id: first.id,
    input: [{ type: 'function_call_output', call_id: 'call_1', output: '2' }],
    store: true,
  })
  const { body } = upstream.seen.at(-1) ?? { body: {} }
  expect(body).toMatchObject({
    store: false,
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'Add' }] },
      { type: 'reasoning', encrypted_content: 'opaque-thought' },
      { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'call_1', output: '2' },
    ],
  })
  for (const name of ['previous_response_id', 'background']) expect(body).not.toHaveProperty(name)
})

test('a provider of another dialect gets its signature back, after a background run too', async () => {
  const events = [
    {
      type: 'message_start',
      message: { id: 'msg_up', model: 'thinker', usage: { input_tokens: 10, output_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2lnbmF0dXJl' } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'add', input: {} },
    },
    { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"a":1}' } },
    { type: 'content_block_stop', index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  upstream.on('thinker', () => sse(events))
  const asked = { model: 'thinker', tools, reasoning: { effort: 'low' as const }, max_output_tokens: 4_000 }
  let first = await client.responses.create({ ...asked, input: 'Add', background: true })
  while (first.status === 'queued' || first.status === 'in_progress')
    first = await client.responses.retrieve(first.id)
  expect(first.output.map(({ type }) => type)).toEqual(['reasoning', 'function_call'])
  const second = await client.responses.create({
    ...asked,
    previous_response_id: first.id,
    input: [{ type: 'function_call_output', call_id: 'toolu_1', output: '2' }],
    stream: true,
  })
  for await (const event of second) expect(event.type).not.toBe('error')
  expect(upstream.seen.at(-1)?.body.messages).toMatchObject([
    { role: 'user' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmF0dXJl' },
        { type: 'tool_use', id: 'toolu_1', name: 'add', input: { a: 1 } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] },
  ])
})

test('a conversation may go to another provider with each turn', async () => {
  upstream.on('reasoner', () =>
    Response.json(
      ownReply([
        THOUGHT,
        {
          id: 'msg_up',
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Four', annotations: [] }],
        },
      ]),
    ),
  )
  upstream.on('plain', unary('Five'))
  const first = await client.responses.create({ model: 'reasoner', input: 'Two and two?', store: true })
  const second = await client.responses.create({
    model: 'plain',
    input: 'And one?',
    previous_response_id: first.id,
    store: true,
  })
  expect(second.output_text).toBe('Five')
  expect(upstream.seen.at(-1)?.body.messages).toMatchObject([
    { role: 'user', content: 'Two and two?' },
    { role: 'assistant', content: 'Four' },
    { role: 'user', content: 'And one?' },
  ])
})

describe('bounds', () => {
  test('a key runs no more background responses at once than it may', async () => {
    upstream.on('plain', () => new Promise(() => undefined))
    const background = createBackgroundRuns(2)
    const deps = { ...gateway.deps, responses: { ...gateway.deps.responses, background } }
    const create = (key = API_KEY) =>
      createResponse(
        incomingOf(
          new Request('http://localhost/v1/responses', {
            method: 'POST',
            headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
            body: JSON.stringify({ model: 'plain', input: 'Hi', background: true }),
          }),
        ),
        deps,
      )
    const ids = [(await (await create()).json()).id, (await (await create()).json()).id]
    await expect(create()).rejects.toMatchObject({
      status: 429,
      message: expect.stringContaining('has 2 background'),
    })
    const { key } = await gateway.makeKey({})
    ids.push((await (await create(key)).json()).id)
    await background.find(ids[0])?.cancel()
    ids.push((await (await create()).json()).id)
    for (const id of ids) await background.find(id)?.cancel()
    await background.close()
    expect(gateway.deps.run.running.count()).toBe(0)
  })

  test('a conversation longer than a request may be is refused, and is not sent', async () => {
    upstream.on('plain', (seen, request) =>
      (seen.body.stream === true ? streamed(['Ok']) : unary('Ok'))(seen, request),
    )
    const input = 'long '.repeat(2_200_000)
    const first = await client.responses.create({ model: 'plain', input, store: true })
    const second = await client.responses.create({
      model: 'plain',
      input: 'x',
      previous_response_id: first.id,
      store: true,
    })
    const big = { model: 'plain', input, previous_response_id: second.id, store: true }
    const third = await client.responses.create(big)
    const sent = upstream.seen.length
    const response = await gateway.call('/responses', {
      model: 'plain',
      input: 'x',
      previous_response_id: third.id,
    })
    expect([response.status, (await response.json()).error.message]).toEqual([
      400,
      expect.stringContaining('previous_response_id: the conversation is longer than 20 MB'),
    ])
    expect(upstream.seen.length).toBe(sent)
  })
})

test('an answer that cannot be stored arrives all the same', async () => {
  upstream.on('plain', unary('Ok'))
  gateway.bodies.file.run('ALTER TABLE responses RENAME TO elsewhere')
  const made = await client.responses.create({ model: 'plain', input: 'Hi', store: true })
  const refused = await gateway.call('/responses', { model: 'plain', input: 'Hi', background: true })
  gateway.bodies.file.run('ALTER TABLE elsewhere RENAME TO responses')
  expect(made.output_text).toBe('Ok')
  // Nothing to poll for would be left of this one: it is refused before it is sent.
  expect(refused.status).toBe(500)
  expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  expect(gateway.deps.run.running.count()).toBe(0)
})

test('a run whose end cannot be stored is reported as failed, and is charged', async () => {
  const goOn = Promise.withResolvers<void>()
  upstream.on('plain', async (seen, request) => {
    await goOn.promise
    return streamed(['Ok'])(seen, request)
  })
  const { id } = await client.responses.create({ model: 'plain', input: 'Hi', background: true })
  const run = gateway.deps.responses.background.find(id)
  gateway.bodies.file.run('ALTER TABLE responses RENAME TO elsewhere')
  goOn.resolve()
  await run?.ended
  gateway.bodies.file.run('ALTER TABLE elsewhere RENAME TO responses')
  expect(await client.responses.retrieve(id)).toMatchObject({
    status: 'failed',
    error: { code: 'server_error', message: 'The end of this response could not be stored' },
  })
  const generation = await (await gateway.call(`/generation?id=${id}`)).json()
  expect(generation.data).toMatchObject({ finish_reason: 'stop', total_cost: 0.00002 })
})
