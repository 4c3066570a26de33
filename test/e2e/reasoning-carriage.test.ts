import { beforeEach, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/core/events.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { type Answer, startUpstream, unary } from '../upstream.ts'

/** Reasoning models of a provider that speaks chat and Responses, by callers of chat and Messages. */

const pricing = { prompt: '0.000001', completion: '0.000002' }
const model = (id: string, more: object = {}) => ({ id, max_completion_tokens: 9000, pricing, ...more })
const REASONER = { supported_parameters: ['tools', 'reasoning', 'max_tokens', 'seed', 'n'] }

const upstream = startUpstream()
const entry = (slug: string, dialect: unknown, models: object[]) => ({
  slug,
  dialect,
  base_url: upstream.baseUrl,
  api_key: `secret-of-${slug}`,
  models,
})
const gateway = await gatewayOfFile(
  {
    providers: [
      entry('lab', ['chat', 'responses'], [model('gpt-5.4-lab'), model('thinker', REASONER), model('plain')]),
      entry('spare', ['chat', 'responses'], [model('thinker', REASONER)]),
      entry('silent', 'chat', [model('gpt-5.6-chatty')]),
    ],
  },
  upstream,
)
gateway.deps.run.wait = async () => undefined
beforeEach(() => {
  upstream.seen.length = 0
})

const refusal = (message: string, status = 400): Response =>
  Response.json({ error: { message, type: 'invalid_request_error', param: null, code: null } }, { status })

/** What OpenAI answers on either path: a call with encrypted reasoning first, then a text. */
const lab: Answer = ({ path, body }) => {
  if (path.endsWith('/chat/completions'))
    return Array.isArray(body['tools'])
      ? refusal(
          `Function tools with reasoning_effort are not supported for ${body['model']} in /v1/chat/completions. Please use /v1/responses instead.`,
        )
      : unary('by chat')({ path, headers: new Headers(), body }, new Request('http://x'))
  const input: JsonObject[] = Array.isArray(body['input']) ? body['input'] : []
  const isSecond = input.some(({ type }) => type === 'function_call_output')
  const thought = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'gAAAA-sealed-by-lab' }
  const output = isSecond
    ? [
        {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'High tide.', annotations: [] }],
        },
      ]
    : [
        thought,
        {
          id: 'fc_1',
          type: 'function_call',
          status: 'completed',
          call_id: 'call_1',
          name: 'tide',
          arguments: '{}',
        },
      ]
  return Response.json({
    id: 'resp_up',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: body['model'],
    output,
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  })
}

const parameters = { type: 'object', properties: {} }
const chat = (name: string, more: object = {}) => ({
  model: name,
  messages: [{ role: 'user', content: 'When is the tide?' }],
  ...more,
})
const chatTools = [{ type: 'function', function: { name: 'tide', parameters } }]
const paths = () => upstream.seen.map(({ path }) => path)
const reasoningSent = () =>
  upstream.seen.flatMap(({ body }) =>
    (Array.isArray(body['input']) ? body['input'] : [])
      .filter(({ type }: JsonObject) => type === 'reasoning')
      .map(({ encrypted_content }: JsonObject) => encrypted_content),
  )

test('chat: a loop of tools keeps its reasoning, on /responses', async () => {
  upstream.on('gpt-5.4-lab', lab)
  const asked = chat('gpt-5.4-lab', { tools: chatTools, reasoning_effort: 'low' })
  const [{ message }] = (await (await gateway.call('/chat/completions', asked)).json()).choices
  expect(message.tool_calls[0].function.name).toBe('tide')
  const messages = [...asked.messages, message, { role: 'tool', tool_call_id: 'call_1', content: '12:00' }]
  const second = await (await gateway.call('/chat/completions', { ...asked, messages })).json()
  expect(second.choices[0].message.content).toBe('High tide.')
  expect(paths()).toEqual(['/v1/responses', '/v1/responses'])
  expect(reasoningSent()).toEqual(['gAAAA-sealed-by-lab'])
})

test('Messages: the same', async () => {
  upstream.on('thinker', lab)
  const asked = {
    model: 'thinker',
    max_tokens: 900,
    messages: [{ role: 'user', content: 'When is the tide?' }],
    tools: [{ name: 'tide', input_schema: parameters }],
  }
  const { content } = await (await gateway.call('/messages', asked)).json()
  const messages = [
    ...asked.messages,
    { role: 'assistant', content },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: '12:00' }] },
  ]
  const second = await (await gateway.call('/messages', { ...asked, messages })).json()
  expect(second.content[0].text).toBe('High tide.')
  expect(paths()).toEqual(['/v1/responses', '/v1/responses'])
  expect(reasoningSent()).toEqual(['gAAAA-sealed-by-lab'])
})

const rows: [what: string, body: object, path: string][] = [
  ['a model that does not reason', chat('plain', { tools: chatTools }), '/v1/chat/completions'],
  ['a plain question to one that does', chat('thinker'), '/v1/responses'],
  ['several answers', chat('thinker', { n: 2 }), '/v1/chat/completions'],
  ['a seed that the model takes', chat('thinker', { seed: 7 }), '/v1/chat/completions'],
  ['a seed beside tools', chat('thinker', { seed: 7, tools: chatTools }), '/v1/responses'],
  [
    'tools without reasoning, and a seed',
    chat('thinker', { seed: 7, tools: chatTools, reasoning_effort: 'none' }),
    '/v1/chat/completions',
  ],
  ['a stop that the model is known not to take', chat('thinker', { stop: 'x' }), '/v1/responses'],
  ['a penalty of zero', chat('gpt-5.4-lab', { presence_penalty: 0 }), '/v1/responses'],
  ['audio', chat('thinker', { modalities: ['text', 'audio'] }), '/v1/chat/completions'],
]
test.each(rows)('%s', async (_, body, path) => {
  for (const name of ['plain', 'thinker', 'gpt-5.4-lab'])
    upstream.on(name, (seen, request) =>
      seen.path.endsWith('completions') ? unary('by chat')(seen, request) : lab(seen, request),
    )
  expect((await gateway.call('/chat/completions', body)).status).toBe(200)
  expect(paths()).toEqual([path])
})

test('what Responses cannot carry is named, unknown fields too', async () => {
  upstream.on('thinker', lab)
  const body = chat('thinker', { seed: 7, tools: chatTools, own_field: 1, verbosity: 'low', store: true })
  const response = await gateway.call('/chat/completions', body, { 'x-service-metadata': 'enabled' })
  const { params } = (await response.json()).service_metadata
  expect(params.dropped_parameters).toContain('seed')
  expect(params.dropped_parameters).toContain('own_field')
  expect(params.dropped_parameters).toContain('store')
  expect(params.dropped_parameters).not.toContain('verbosity')
})

test('an entry of chat alone that refuses and names /responses is called there', async () => {
  upstream.on('gpt-5.6-chatty', lab)
  const asked = chat('gpt-5.6-chatty', { tools: chatTools })
  const response = await gateway.call('/chat/completions', asked)
  expect(response.status).toBe(200)
  expect((await response.json()).choices[0].message.tool_calls).toHaveLength(1)
  expect(paths()).toEqual(['/v1/chat/completions', '/v1/responses'])
  expect(gateway.generations().at(-1)).toMatchObject({ finish_reason: 'tool_calls', cost_nano_usd: 20_000 })
})

test('reasoning that another account has encrypted is left out, and named', async () => {
  const strict: Answer = (seen, request) =>
    JSON.stringify(seen.body['input']).includes('gAAAA')
      ? refusal('The encrypted content gAAA...sealed could not be verified. Reason: could not be decrypted.')
      : lab(seen, request)
  upstream.on('thinker', strict)
  const detail = {
    type: 'reasoning.encrypted',
    data: 'gAAAA-of-other',
    id: 'rs_0',
    format: 'openai-responses-v1',
  }
  const call = { id: 'call_1', type: 'function', function: { name: 'tide', arguments: '{}' } }
  const messages = [
    { role: 'user', content: 'When?' },
    { role: 'assistant', content: null, tool_calls: [call], reasoning_details: [detail] },
    { role: 'tool', tool_call_id: 'call_1', content: '12:00' },
  ]
  const response = await gateway.call(
    '/chat/completions',
    { model: 'thinker', messages, tools: chatTools },
    { 'x-service-metadata': 'enabled' },
  )
  const reply = await response.json()
  expect(reply.choices[0].message.content).toBe('High tide.')
  expect(reply.service_metadata.params.dropped_parameters).toContain('input.reasoning')
  expect(upstream.seen).toHaveLength(2)
})
