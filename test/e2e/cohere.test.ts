import { beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { assemble } from '../chat-stream.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { FIXTURES } from '../recordings.ts'
import { dataLines, startUpstream } from '../upstream.ts'
import { ask, fixturesOf } from './replies.ts'

/** A provider of Cohere's dialect behind POST /chat/completions. */

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    providers: [
      {
        slug: 'lab',
        name: 'Lab',
        dialect: 'cohere',
        base_url: upstream.baseUrl,
        api_key: 'secret-of-lab',
        models: ['lamps', 'plain', 'broken', 'wrong-key', 'too-long'].map((id) => ({
          id,
          pricing: { prompt: '0.000001', completion: '0.000002' },
        })),
      },
    ],
  },
  upstream,
)
gateway.deps.run.wait = async () => undefined
beforeEach(() => {
  upstream.seen.length = 0
})

const fixture = fixturesOf('cohere')
const tools = [
  { type: 'function', function: { name: 'set_lamp', parameters: { type: 'object', properties: {} } } },
]

test('a streamed turn of tools with thoughts and a plan, and the turn after it', async () => {
  upstream.inTurn('lamps', [fixture('thinking-tool.sse'), fixture('text.sse')])
  const asked = ask('lamps', { stream: true, tools, reasoning: { effort: 'high' }, max_tokens: 500 })
  const first = await assemble(await gateway.call('/chat/completions', asked))
  expect(upstream.seen[0]?.path).toBe('/v1/chat')
  expect(upstream.seen[0]?.headers.get('authorization')).toBe('Bearer secret-of-lab')
  expect(upstream.seen[0]?.body).toEqual({
    model: 'lamps',
    stream: true,
    messages: [{ role: 'user', content: 'Hello' }],
    tools,
    max_tokens: 500,
    thinking: { type: 'enabled' },
  })
  expect(first.isDone).toBe(true)
  expect(first.finish).toMatchObject({ finish_reason: 'tool_calls', native_finish_reason: 'TOOL_CALL' })
  // What is billed, at the entry's prices.
  expect(first.last.usage).toMatchObject({ prompt_tokens: 40, completion_tokens: 60, cost: 0.00016 })
  expect(first.message.reasoning).toBe('The lamp is in the kitchen.')

  const result = { role: 'tool', tool_call_id: 'set_lamp_a1', content: 'done' }
  const second = await assemble(
    await gateway.call('/chat/completions', {
      ...asked,
      messages: [...asked.messages, first.message, result],
    }),
  )
  expect(second.message.content).toBe('Grüße aus der Werkstatt 🛠 und zurück')
  expect(upstream.seen[1]?.body['messages']).toEqual([
    { role: 'user', content: 'Hello' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'The lamp is in the kitchen.' },
        { type: 'text', text: 'I switch it on.' },
      ],
      tool_plan: 'Call set_lamp.',
      tool_calls: [
        {
          id: 'set_lamp_a1',
          type: 'function',
          function: { name: 'set_lamp', arguments: '{"lamp":"kitchen"}' },
        },
      ],
    },
    result,
  ])
})

test('a reply at once, with what could not be carried named', async () => {
  upstream.on('plain', fixture('citations.json'))
  const response = await gateway.call('/chat/completions', ask('plain', { min_p: 0.1, safety_mode: 'OFF' }), {
    'x-service-metadata': 'enabled',
  })
  const reply = await response.json()
  expect(response.status).toBe(200)
  expect(upstream.seen[0]?.body).toMatchObject({ stream: false, safety_mode: 'OFF' })
  expect(upstream.seen[0]?.body['min_p']).toBeUndefined()
  expect(reply.choices[0].message).toMatchObject({
    content: 'It opens at 6.',
    annotations: [{ type: 'file_citation', file_id: 'doc:0', start_index: 3, end_index: 13 }],
  })
  expect(JSON.stringify(reply.service_metadata)).toContain('min_p')
})

test('an answer that breaks off ends in an error and is charged for what came', async () => {
  upstream.on('broken', fixture('broken-off.sse'))
  const lines = await dataLines(await gateway.call('/chat/completions', ask('broken', { stream: true })))
  expect(lines.at(-1)).not.toBe('[DONE]')
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ choices: [{ finish_reason: 'error' }] })
  expect(gateway.generations().at(-1)).toMatchObject({ finish_reason: 'error' })
})

test.each([
  ['wrong-key', '401.http.json', 401, 502, 'provider_unavailable'],
  ['too-long', '400-too-long.http.json', 400, 400, 'context_length_exceeded'],
])('%s', async (model, file, status, expected, type) => {
  const { interactions } = await Bun.file(join(FIXTURES, 'cohere', file)).json()
  upstream.on(model, () => new Response(interactions[0].response_text, { status }))
  const response = await gateway.call('/chat/completions', ask(model))
  expect(response.status).toBe(expected)
  const { error } = await response.json()
  expect(error.metadata.error_type).toBe(type)
})
