/** The loop in the words of each dialect, streamed and not. */
import { describe, expect, test } from 'bun:test'
import { isObject, objectsIn } from '../../../src/core/json.ts'
import { turnOfLoop } from '../../../src/core/turn.ts'
import { ask, calls, STEP_USD, says, startTools } from './setup.ts'

const { upstream, gateway } = await startTools()

const sum = { name: 'calculator', args: { expression: '6 * 7' } }
const script = () => upstream.inTurn('tiny', [calls([sum], 'Let me see.'), says('It is 42.')])

async function events(path: string, body: Record<string, unknown>): Promise<Record<string, unknown>[]> {
  const response = await gateway.call(path, body)
  expect(response.status).toBe(200)
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'))
  return lines.map((line) => JSON.parse(line.slice('data: '.length)))
}

async function complete(path: string, body: Record<string, unknown>) {
  const response = await gateway.call(path, body)
  expect(response.status).toBe(200)
  return response.json()
}

test('a stream of chat is one answer, with the usage of all steps', async () => {
  script()
  const chunks = await events('/chat/completions', ask({ stream: true }))
  const deltas = chunks.flatMap(({ choices }) => objectsIn(choices))
  const text = deltas.map(({ delta }) => (isObject(delta) ? (delta['content'] ?? '') : '')).join('')
  expect(text).toBe('Let me see.\n\nIt is 42.')
  expect(deltas.filter(({ delta }) => isObject(delta) && delta['tool_calls'])).toEqual([])
  expect(deltas.filter(({ finish_reason }) => finish_reason)).toMatchObject([{ finish_reason: 'stop' }])
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
  expect(chunks.at(-1)?.['usage']).toMatchObject({
    prompt_tokens: 20,
    completion_tokens: 10,
    server_tool_use_details: { tool_calls_requested: 1, tool_calls_executed: 1 },
  })
  const usage = chunks.at(-1)?.['usage']
  expect(isObject(usage) && usage['cost']).toBeCloseTo(2 * STEP_USD, 12)
})

describe('responses', () => {
  const asked = {
    model: 'tiny',
    input: 'What is 6 * 7?',
    tools: [{ type: 'openrouter:datetime' }, { type: 'openrouter:calculator' }],
  }
  const output = [
    { type: 'message', content: [{ type: 'output_text', text: 'Let me see.' }] },
    { type: 'openrouter:calculator', status: 'completed', expression: '6 * 7', result: '42' },
    { type: 'message', content: [{ type: 'output_text', text: 'It is 42.' }] },
  ]

  test('have an item for each call, in its place', async () => {
    script()
    const reply = await complete('/responses', asked)
    expect(reply.output).toMatchObject(output)
    expect(reply.output).toHaveLength(3)
    expect(reply.output_text).toBe('Let me see.It is 42.')
    expect(reply.usage).toMatchObject({ input_tokens: 20, output_tokens: 10 })
  })

  test('are streamed with the same items', async () => {
    script()
    const all = await events('/responses', { ...asked, stream: true })
    expect(all.map(({ sequence_number }) => sequence_number)).toEqual(all.map((_, at) => at))
    const last = all.at(-1)
    expect(last).toMatchObject({ type: 'response.completed', response: { output } })
    const items = all.filter(({ type }) => String(type).startsWith('response.output_item'))
    expect(items.map(({ type, output_index }) => [type, output_index])).toEqual(
      [0, 1, 2].flatMap((at) => [
        ['response.output_item.added', at],
        ['response.output_item.done', at],
      ]),
    )
    expect(items[2]).toMatchObject({ item: { type: 'openrouter:calculator', status: 'in_progress' } })
  })

  test('that are stored are continued with their items', async () => {
    script()
    const first = await complete('/responses', { ...asked, store: true })
    upstream.inTurn('tiny', [says('Still 42.')])
    const next = { ...asked, input: 'Again?' }
    const continued = await complete('/responses', { ...next, previous_response_id: first.id })
    expect(continued.output_text).toBe('Still 42.')
    const fedBack = await complete('/responses', {
      ...next,
      input: [...first.output, { role: 'user', content: 'Again?' }],
    })
    expect(fedBack.output_text).toBe('Still 42.')
  })

  test('in the background run the loop to its end', async () => {
    script()
    let reply = await complete('/responses', { ...asked, background: true })
    expect(reply.status).toBe('queued')
    while (reply.status === 'queued' || reply.status === 'in_progress') {
      await turnOfLoop()
      reply = await (await gateway.call(`/responses/${reply.id}`)).json()
    }
    expect(reply).toMatchObject({ status: 'completed', output })
  })

  test('show a call that failed', async () => {
    upstream.inTurn('tiny', [calls([{ name: 'calculator', args: { expression: '1/0' } }]), says('no')])
    const reply = await complete('/responses', asked)
    expect(reply.output[0]).toMatchObject({
      type: 'openrouter:calculator',
      status: 'incomplete',
      error: 'division by zero',
    })
  })
})

describe('messages', () => {
  const asked = {
    model: 'tiny',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'What is 6 * 7?' }],
    tools: [{ type: 'openrouter:calculator' }],
  }
  const content = [
    { type: 'text', text: 'Let me see.' },
    { type: 'server_tool_use', name: 'calculator', input: { expression: '6 * 7' } },
    { type: 'calculator_tool_result', content: [{ type: 'text', text: '42' }] },
    { type: 'text', text: 'It is 42.' },
  ]

  test('have a block for each call and its result', async () => {
    script()
    const reply = await complete('/messages', asked)
    expect(reply.content).toMatchObject(content)
    expect(reply.content[1].id).toMatch(/^srvtoolu_[a-zA-Z0-9_]+$/)
    expect(reply.content[2].tool_use_id).toBe(reply.content[1].id)
    expect(reply.stop_reason).toBe('end_turn')
    expect(reply.usage).toMatchObject({ input_tokens: 20, output_tokens: 10 })
  })

  test('are streamed as blocks that follow each other', async () => {
    script()
    const all = await events('/messages', { ...asked, stream: true })
    const started = all.filter(({ type }) => type === 'content_block_start')
    expect(started.map(({ index }) => index)).toEqual([0, 1, 2, 3])
    expect(started.map(({ content_block }) => isObject(content_block) && content_block['type'])).toEqual(
      content.map(({ type }) => type),
    )
    expect(all.filter(({ type }) => type === 'message_start')).toHaveLength(1)
    expect(all.at(-2)).toMatchObject({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: 20 },
    })
  })

  test('take the blocks back in the next turn', async () => {
    script()
    const { content: firstAnswer } = await complete('/messages', asked)
    upstream.inTurn('tiny', [says('Still 42.')])
    const messages = [
      ...asked.messages,
      { role: 'assistant', content: firstAnswer },
      { role: 'user', content: 'Again?' },
    ]
    const reply = await complete('/messages', { ...asked, messages })
    expect(reply.content).toMatchObject([{ text: 'Still 42.' }])
  })
})

describe('gemini', () => {
  const asked = {
    contents: [{ role: 'user', parts: [{ text: 'What is 6 * 7?' }] }],
    tools: [{ type: 'openrouter:calculator' }],
  }

  test('gives one answer', async () => {
    script()
    const reply = await complete('/models/tiny:generateContent', asked)
    expect(reply.candidates[0].content.parts).toEqual([{ text: 'Let me see.\n\nIt is 42.' }])
    expect(reply.candidates[0].finishReason).toBe('STOP')
    expect(reply.usageMetadata).toMatchObject({ promptTokenCount: 20, candidatesTokenCount: 10 })
  })

  test('streams it', async () => {
    script()
    const chunks = await events('/models/tiny:streamGenerateContent?alt=sse', asked)
    const parts = chunks
      .flatMap(({ candidates }) => objectsIn(candidates))
      .flatMap(({ content }) => (isObject(content) ? objectsIn(content['parts']) : []))
    expect(parts.map(({ text }) => text).join('')).toBe('Let me see.\n\nIt is 42.')
  })
})
