import { describe, expect, test } from 'bun:test'
import { API_KEY } from '../gateway.ts'
import { refusal, replyOf, startForStoredResponses } from './responses-state-setup.ts'

/** Conversations over stored responses: turns, items and files, by OpenAI’s own client. */

const DAY_MS = 24 * 3_600_000
const { clock, upstream, gateway, client, foreign, sentMessages, send } = await startForStoredResponses()

describe('a conversation', () => {
  test('continues with its earlier input and output, without the instructions', async () => {
    const first = await client.responses.create({
      model: 'tiny',
      instructions: 'Be short.',
      input: [{ role: 'user', content: 'One' }],
      store: true,
    })
    upstream.on('tiny', replyOf(['Second']))
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

  test('continues after a tool call, and without new input', async () => {
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
    upstream.on('tiny', replyOf(['2']))
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

  test('with invalid new items is rejected with their place', async () => {
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

  test('is stored as long as its last turn', async () => {
    const first = await client.responses.create({ model: 'tiny', input: 'One', store: true })
    clock.now += 5 * DAY_MS
    const second = await client.responses.create({
      model: 'tiny',
      input: 'Two',
      previous_response_id: first.id,
      store: true,
    })
    clock.now += 5 * DAY_MS
    expect((await client.responses.retrieve(first.id)).id).toBe(first.id)
    await client.responses.create({ model: 'tiny', input: 'Three', previous_response_id: second.id })
    expect(sentMessages()).toHaveLength(5)
    clock.now += 3 * DAY_MS
    expect((await refusal(client.responses.retrieve(second.id))).status).toBe(404)
  })

  test('without one of its turns is rejected with the id of the turn', async () => {
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
  test('that are references are replaced, each once', async () => {
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

  test('that a client repeats with each turn are listed once', async () => {
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

test('a file is stored by its id: it is sent with each turn, until it is deleted', async () => {
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
