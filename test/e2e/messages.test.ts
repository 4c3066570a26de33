import { beforeEach, expect, test } from 'bun:test'
import { assemble } from '../chat-stream.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { dataLines, startUpstream } from '../upstream.ts'
import { ask, fixturesOf } from './replies.ts'

/** A provider of Anthropic's dialect behind POST /chat/completions. */

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    providers: [
      {
        slug: 'lab',
        name: 'Lab',
        dialect: 'messages',
        base_url: upstream.baseUrl,
        api_key: 'secret-of-lab',
        models: ['lamps', 'tides', 'cached', 'overloaded', 'wrong-key', 'answer'].map((id) => ({
          id,
          max_completion_tokens: 9000,
          pricing: {
            prompt: '0.000001',
            completion: '0.000002',
            input_cache_read: '0.0000001',
            input_cache_write: '0.00000125',
          },
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

const fixture = fixturesOf('messages')
const tools = ['set_lamp', 'list_lamps', 'now'].map((name) => ({ type: 'function', function: { name } }))

const RESULTS = ['toolu_a', 'toolu_b', 'toolu_c'].map((id) => ({
  role: 'tool',
  tool_call_id: id,
  content: `done ${id}`,
}))

test('a streamed turn of tools with thoughts, and the turn after it', async () => {
  upstream.inTurn('lamps', [fixture('thinking-tools.sse'), fixture('text.sse')])
  const asked = ask('lamps', { stream: true, tools, reasoning: { effort: 'high' } })
  const first = await assemble(await gateway.call('/chat/completions', asked))
  expect(upstream.seen[0]?.path).toBe('/v1/messages')
  expect(upstream.seen[0]?.headers.get('x-api-key')).toBe('secret-of-lab')
  expect(upstream.seen[0]?.headers.get('authorization')).toBeNull()
  expect(upstream.seen[0]?.headers.get('anthropic-version')).toBe('2023-06-01')
  expect(upstream.seen[0]?.body).toMatchObject({
    model: 'lamps',
    stream: true,
    max_tokens: 9000,
    thinking: { type: 'enabled', budget_tokens: 7200 },
  })
  expect(first.isDone).toBe(true)
  expect(first.finish).toMatchObject({ finish_reason: 'tool_calls', native_finish_reason: 'tool_use' })
  expect(first.last.usage).toMatchObject({
    prompt_tokens: 40,
    completion_tokens: 88,
    completion_tokens_details: { reasoning_tokens: 21 },
  })
  expect(first.message.reasoning).toBe('Two lamps, so two calls.')
  expect(first.message.tool_calls.map(({ function: called }) => called.arguments)).toEqual([
    '{"lamp": "Küche", "on": true}',
    '{}',
    '{}',
  ])

  const second = await assemble(
    await gateway.call('/chat/completions', {
      ...asked,
      messages: [...asked.messages, first.message, ...RESULTS],
    }),
  )
  expect(second.message.content).toBe('Grüße aus der Werkstatt 🛠 und zurück')
  expect(upstream.seen[1]?.body).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 7200 } })
  expect(upstream.seen[1]?.body['messages']).toEqual([
    { role: 'user', content: 'Hello' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Two lamps, so two calls.', signature: 'c2lnLWxhbXBz' },
        { type: 'text', text: 'I switch it on.' },
        { type: 'tool_use', id: 'toolu_a', name: 'set_lamp', input: { lamp: 'Küche', on: true } },
        { type: 'tool_use', id: 'toolu_b', name: 'list_lamps', input: {} },
        { type: 'tool_use', id: 'toolu_c', name: 'now', input: {} },
      ],
    },
    {
      role: 'user',
      content: RESULTS.map(({ tool_call_id, content }) => ({
        type: 'tool_result',
        tool_use_id: tool_call_id,
        content,
      })),
    },
  ])
})

test('the same in two whole answers', async () => {
  upstream.inTurn('lamps', [fixture('thinking-tools.json'), fixture('cached.json')])
  const asked = ask('lamps', { tools, reasoning: { max_tokens: 2000 } })
  const reply = await (await gateway.call('/chat/completions', asked)).json()
  const [{ message, finish_reason }] = reply.choices
  expect(finish_reason).toBe('tool_calls')
  expect(message.reasoning).toBe('One call.')
  const messages = [
    ...asked.messages,
    message,
    { role: 'tool', tool_call_id: 'toolu_d', content: 'off' },
    { role: 'tool', tool_call_id: 'toolu_e', content: '[]' },
  ]
  expect((await gateway.call('/chat/completions', { ...asked, messages })).status).toBe(200)
  expect(upstream.seen[1]?.body).toMatchObject({
    thinking: { type: 'enabled', budget_tokens: 2000 },
    messages: [
      { role: 'user', content: 'Hello' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'One call.', signature: 'c2ln' },
          { type: 'tool_use', id: 'toolu_d', input: { lamp: 'Flur', on: false } },
          { type: 'tool_use', id: 'toolu_e', input: {} },
        ],
      },
      { role: 'user', content: [{ tool_use_id: 'toolu_d' }, { tool_use_id: 'toolu_e' }] },
    ],
  })
})

test('cached tokens are counted in and priced apart', async () => {
  upstream.on('cached', fixture('cached.json'))
  const { usage, service_tier } = await (await gateway.call('/chat/completions', ask('cached'))).json()
  expect(usage).toMatchObject({
    prompt_tokens: 4604,
    completion_tokens: 2,
    prompt_tokens_details: { cached_tokens: 3400, cache_write_tokens: 1200 },
    cost: 0.001848,
  })
  expect(service_tier).toBe('priority')
  expect(gateway.generations().at(-1)).toMatchObject({
    cost_nano_usd: 1_848_000,
    native_finish_reason: 'end_turn',
  })
})

test('citations are annotations with their place in the text', async () => {
  upstream.on('tides', fixture('web-search.sse'))
  const lines = await dataLines(await gateway.call('/chat/completions', ask('tides', { stream: true })))
  const annotations = lines
    .slice(0, -1)
    .flatMap((line) => JSON.parse(line).choices)
    .flatMap(({ delta }) => delta.annotations ?? [])
  expect(annotations[0]).toEqual({
    type: 'url_citation',
    url_citation: {
      url: 'https://tides.example/today',
      title: 'Tides today',
      content: 'The tide turns at six.',
      start_index: 9,
      end_index: 15,
    },
  })
  expect(annotations[1]).toMatchObject({ type: 'page_location', start_index: 16, end_index: 28 })
})

test('a schema is a tool where the model has none, and its input the text', async () => {
  upstream.on('answer', fixture('answer-tool.json'))
  const schema = { type: 'object', properties: { city: { type: 'string' } } }
  const response_format = { type: 'json_schema', json_schema: { name: 'place', schema } }
  const { choices } = await (
    await gateway.call('/chat/completions', ask('answer', { response_format }))
  ).json()
  expect(upstream.seen[0]?.body['tool_choice']).toEqual({ type: 'tool', name: 'answer_in_json' })
  expect(choices[0]).toMatchObject({ message: { content: '{"city":"Emden"}' }, finish_reason: 'stop' })
  expect(choices[0].message.tool_calls).toBeUndefined()
})

test('what could not be carried is named', async () => {
  upstream.on('cached', fixture('cached.json'))
  const asked = ask('cached', { seed: 7, logprobs: true })
  const response = await gateway.call('/chat/completions', asked, { 'x-service-metadata': 'enabled' })
  const { service_metadata } = await response.json()
  expect(JSON.stringify(service_metadata)).toContain('"seed"')
  expect(JSON.stringify(service_metadata)).toContain('"logprobs"')
})

test('an overload in mid-answer never looks finished', async () => {
  upstream.on('overloaded', fixture('overloaded.sse'))
  const lines = await dataLines(await gateway.call('/chat/completions', ask('overloaded', { stream: true })))
  expect(lines.at(-1)).not.toBe('[DONE]')
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
    choices: [{ finish_reason: 'error' }],
    error: { code: 529 },
  })
  expect(gateway.generations().at(-1)).toMatchObject({ finish_reason: 'error' })
})

test('a wrong credential is a 502 without the text of the provider', async () => {
  upstream.on('wrong-key', () =>
    Response.json(
      {
        type: 'error',
        error: { type: 'authentication_error', message: 'invalid x-api-key' },
        request_id: 'r',
      },
      { status: 401 },
    ),
  )
  const response = await gateway.call('/chat/completions', ask('wrong-key'))
  expect(response.status).toBe(502)
  expect(await response.text()).not.toContain('x-api-key')
})
