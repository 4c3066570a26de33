import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { FIXTURES } from '../recordings.ts'
import { chunk, DONE, usageChunk } from '../upstream.ts'

/** Anthropic's own client against the gateway, whatever the provider behind it speaks. */

interface Seen {
  path: string
  headers: Headers
  body: Record<string, unknown>
}

let gateway: Gateway
let client: Anthropic
let seen: Seen[] = []
let answers: (() => Response | Promise<Response>)[] = []
const upstream = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  // A stream that is told to break does so quietly.
  error: () => new Response(null, { status: 500 }),
  async fetch(request) {
    seen.push({ path: new URL(request.url).pathname, headers: request.headers, body: await request.json() })
    return (await answers.shift()?.()) ?? new Response('nothing more', { status: 500 })
  },
})
const base = `http://127.0.0.1:${upstream.port}`
const pricing = {
  prompt: '0.000001',
  completion: '0.000002',
  input_cache_read: '0.0000001',
  input_cache_write: '0.00000125',
}
const provider = (slug: string, dialect: string, path: string, models: unknown[]) => ({
  slug,
  name: slug,
  dialect,
  base_url: `${base}${path}`,
  api_key: `secret-of-${slug}`,
  models,
})

beforeAll(async () => {
  gateway = await startGateway({
    listens: true,
    environment: { OPENROUTER_API_KEY: 'secret-of-openrouter', OPENROUTER_BASE_URL: `${base}/or/v1` },
    providers: [
      provider('claude', 'messages', '/claude/v1', [
        { id: 'lamps', upstream_id: 'claude-sonnet-4-5', max_completion_tokens: 9000, pricing },
        { id: 'shared', upstream_id: 'claude-haiku-4-5', pricing },
      ]),
      provider('google', 'gemini', '/google/v1beta', [
        { id: 'tides', upstream_id: 'gemini-3-tides', pricing },
      ]),
      provider('open', 'responses', '/open/v1', [{ id: 'tide-1', pricing }]),
      provider('plain', 'chat', '/plain/v1', [{ id: 'plain-1', pricing }]),
    ],
  })
  gateway.deps.run.wait = async () => undefined
  client = clientOf({ authToken: API_KEY })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})
beforeEach(() => {
  seen = []
  answers = []
})

const clientOf = (keys: { apiKey: string } | { authToken: string }): Anthropic =>
  new Anthropic({ apiKey: null, authToken: null, ...keys, baseURL: gateway.url, maxRetries: 0 })

const fixture = (dialect: string, file: string) => async (): Promise<Response> =>
  new Response(await Bun.file(join(FIXTURES, dialect, file)).bytes(), {
    headers: { 'content-type': file.endsWith('.sse') ? 'text/event-stream' : 'application/json' },
  })
const events =
  (...list: unknown[]) =>
  (): Response =>
    new Response(
      list.map((each) => (typeof each === 'string' ? each : `data: ${JSON.stringify(each)}\n\n`)).join(''),
      {
        headers: { 'content-type': 'text/event-stream' },
      },
    )

const MESSAGE = {
  id: 'msg_upstream',
  type: 'message',
  role: 'assistant',
  model: 'claude-upstream',
  content: [{ type: 'text', text: 'Hello.', citations: null }],
  stop_reason: 'stop_sequence',
  stop_sequence: 'END',
  container: { id: 'container_1', expires_at: '2026-01-01T00:00:00Z' },
  context_management: { applied_edits: [] },
  usage: {
    input_tokens: 10,
    cache_creation_input_tokens: 20,
    cache_read_input_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 15, ephemeral_1h_input_tokens: 5 },
    output_tokens: 4,
    service_tier: 'standard',
    inference_geo: 'eu',
  },
}
const HI: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hi' }]
const ask = (more: Partial<Anthropic.MessageCreateParamsNonStreaming> = {}) => ({
  model: 'lamps',
  max_tokens: 8000,
  messages: HI,
  ...more,
})

describe('a provider of the same dialect', () => {
  test('its reply is the answer, but for id, model and account', async () => {
    answers = [() => Response.json(MESSAGE)]
    const { data, response } = await client.messages.create(ask()).withResponse()
    const { id, usage, ...rest } = data
    const { id: _, usage: told, ...own } = MESSAGE
    // @ai-sdk/anthropic refuses `citations: null`.
    const content = [{ type: 'text', text: 'Hello.' }]
    expect<object>(rest).toEqual({ ...own, content, model: 'lamps', provider: 'claude' })
    expect(id).toMatch(/^msg_[0-9a-f]{32}$/)
    expect<object>(usage).toMatchObject({ ...told, cost: 0.000046 })
    expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'))
    const record = await (await gateway.call(`/generation?id=${id}`)).json()
    expect(record.data).toMatchObject({
      id: id.replace('msg_', 'gen-'),
      api_type: 'messages',
      upstream_id: 'msg_upstream',
      native_tokens_prompt: 60,
      total_cost: 0.000046,
      native_finish_reason: 'stop_sequence',
    })
  })

  test('the body goes through, unknown fields at every level; what is the gateway’s does not', async () => {
    answers = [() => Response.json(MESSAGE)]
    const body = {
      max_tokens: 77,
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' }, lean: 1 }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', lean: 2 }], lean: 3 }],
      tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 2 }],
      context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
      lean: { deep: [4] },
    }
    const response = await gateway.call(
      '/messages',
      {
        ...body,
        model: 'shared',
        session_id: 's',
        provider: { sort: 'price' },
        trace: { trace_id: 't' },
        user: 'u',
      },
      { 'anthropic-beta': 'context-management-2025-06-27' },
    )
    expect(response.status).toBe(200)
    expect(seen[0]?.path).toBe('/claude/v1/messages')
    expect(seen[0]?.body).toEqual({ ...body, model: 'claude-haiku-4-5', metadata: { user_id: 'u' } })
    expect(seen[0]?.headers.get('anthropic-beta')).toBe('context-management-2025-06-27')
    expect(seen[0]?.headers.get('x-api-key')).toBe('secret-of-claude')
    expect(seen[0]?.headers.get('authorization')).toBeNull()
  })

  test('what runs at the provider streams through in its place', async () => {
    answers = [fixture('messages', 'web-search.sse')]
    const message = await client.messages.stream(ask()).finalMessage()
    const types: string[] = message.content.map(({ type }) => type)
    expect(types).toContain('server_tool_use')
    expect(types).toContain('web_search_tool_result')
    const cited = message.content.flatMap((block) => (block.type === 'text' ? (block.citations ?? []) : []))
    expect(cited[0]).toMatchObject({ type: 'web_search_result_location', url: 'https://tides.example/today' })
    expect(message.usage.server_tool_use).toMatchObject({ web_search_requests: 1 })
    expect(gateway.generations().at(-1)).toMatchObject({ streamed: 1, native_finish_reason: 'end_turn' })
  })

  test('a stream that breaks off is an error', async () => {
    answers = [fixture('messages', 'overloaded.sse')]
    const broken = client.messages.stream(ask()).finalMessage()
    await expect(broken).rejects.toMatchObject({
      error: { type: 'error', error: { type: 'overloaded_error', error_type: 'provider_overloaded' } },
    })
    expect(gateway.generations().at(-1)).toMatchObject({ finish_reason: 'error' })
  })

  test('routing metadata comes with the message, and on message_stop', async () => {
    answers = [() => Response.json(MESSAGE), fixture('messages', 'text.sse')]
    const headers = { 'x-service-metadata': 'enabled' }
    expect(await client.messages.create(ask(), { headers })).toMatchObject({
      service_metadata: { requested: 'lamps', attempt: 1 },
    })
    const ends: unknown[] = []
    for await (const event of client.messages.stream(ask(), { headers })) {
      if (event.type === 'message_stop') ends.push(event)
    }
    expect(ends).toMatchObject([{ openrouter_metadata: { requested: 'lamps' } }])
  })
})

const TOOLS: Anthropic.Tool[] = ['set_lamp', 'list_lamps', 'now', 'tide', 'get_tide'].map((name) => ({
  name,
  input_schema: { type: 'object' },
}))
const THINKING = { type: 'enabled', budget_tokens: 2000 } as const

/** Two turns: the first one calls tools, the second one answers with their results and all that came before. */
async function toolLoop(model: string, isStream: boolean) {
  const first = await turn(model, HI, isStream)
  const results = first.content.flatMap((block): Anthropic.ToolResultBlockParam[] =>
    block.type === 'tool_use'
      ? [{ type: 'tool_result', tool_use_id: block.id, content: `done ${block.name}` }]
      : [],
  )
  const messages: Anthropic.MessageParam[] = [
    ...HI,
    { role: 'assistant', content: first.content },
    { role: 'user', content: results },
  ]
  return { first, second: await turn(model, messages, isStream) }
}

const turn = (
  model: string,
  messages: Anthropic.MessageParam[],
  isStream: boolean,
): Promise<Anthropic.Message> => {
  const params = ask({ model, messages, tools: TOOLS, thinking: THINKING })
  return isStream ? client.messages.stream(params).finalMessage() : client.messages.create(params)
}

describe.each([true, false])('two turns with tools and thoughts, streamed: %p', (isStream) => {
  test('a messages-shaped provider', async () => {
    answers = isStream
      ? [fixture('messages', 'thinking-tools.sse'), fixture('messages', 'text.sse')]
      : [fixture('messages', 'thinking-tools.json'), () => Response.json(MESSAGE)]
    const { first } = await toolLoop('lamps', isStream)
    expect(first.stop_reason).toBe('tool_use')
    const [thought] = first.content
    if (thought?.type !== 'thinking') throw new Error('no thought')
    expect(seen[1]?.body['thinking']).toEqual(THINKING)
    const { content } = replayed()
    expect(content).toEqual(first.content)
    expect(content[0]).toEqual({
      type: 'thinking',
      thinking: isStream ? 'Two lamps, so two calls.' : 'One call.',
      signature: isStream ? 'c2lnLWxhbXBz' : 'c2ln',
    })
  })

  test('a gemini-shaped provider', async () => {
    const whole = {
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              { text: 'I ask the tool.', thought: true },
              { functionCall: { name: 'tide', args: { port: 'Brest' } }, thoughtSignature: 'c2lnLWNhbGw=' },
              { functionCall: { name: 'now', args: {} } },
            ],
          },
          finishReason: 'STOP',
          index: 0,
        },
      ],
      usageMetadata: {
        promptTokenCount: 9,
        candidatesTokenCount: 5,
        thoughtsTokenCount: 7,
        totalTokenCount: 21,
      },
    }
    const end = {
      candidates: [
        { content: { role: 'model', parts: [{ text: 'High.' }] }, finishReason: 'STOP', index: 0 },
      ],
    }
    answers = isStream ? [events(whole), events(end)] : [() => Response.json(whole), () => Response.json(end)]
    const { first, second } = await toolLoop('tides', isStream)
    expect(first.content.map(({ type }) => type)).toEqual([
      'thinking',
      'redacted_thinking',
      'tool_use',
      'tool_use',
    ])
    expect(first.usage).toMatchObject({ input_tokens: 9, output_tokens: 12 })
    expect(second.content).toMatchObject([{ type: 'text', text: 'High.' }])
    expect(seen[1]?.body['contents']).toEqual([
      { role: 'user', parts: [{ text: 'Hi' }] },
      {
        role: 'model',
        parts: [
          { text: 'I ask the tool.', thought: true },
          { functionCall: { name: 'tide', args: { port: 'Brest' } }, thoughtSignature: 'c2lnLWNhbGw=' },
          { functionCall: { name: 'now', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: ['tide', 'now'].map((name) => ({
          functionResponse: { name, response: { output: `done ${name}` } },
        })),
      },
    ])
  })

  test('a responses-shaped provider', async () => {
    const file = `thinking-tools.${isStream ? 'sse' : 'json'}`
    answers = [fixture('responses', file), fixture('responses', isStream ? 'text.sse' : 'searches.json')]
    const { first } = await toolLoop('tide-1', isStream)
    expect(first.stop_reason).toBe('tool_use')
    const asked = JSON.stringify(seen[1]?.body['input'])
    const sent = await Bun.file(join(FIXTURES, 'responses', file)).text()
    const [, encrypted] = /"encrypted_content": ?"([^"]+)"/.exec(sent) ?? []
    expect(encrypted).toBeString()
    expect(asked).toContain(`"encrypted_content":"${encrypted}"`)
    expect(asked).not.toContain('sluice.v1')
  })

  test('a chat-shaped provider with reasoning details', async () => {
    const details = [
      { type: 'reasoning.summary', summary: 'Short.', format: 'openai-responses-v1', id: 'rs_1', index: 0 },
      {
        type: 'reasoning.encrypted',
        data: 'ZW5jcnlwdGVk',
        format: 'openai-responses-v1',
        id: 'rs_1',
        index: 1,
      },
      { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln', format: 'anthropic-claude-v1', index: 2 },
    ]
    const calls = [{ index: 0, id: 'call_1', type: 'function', function: { name: 'tide', arguments: '{}' } }]
    const message = { content: null, reasoning: 'Short.Hm.', reasoning_details: details, tool_calls: calls }
    const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'tool_calls' }]
    answers = isStream
      ? [
          events(chunk(message, 'tool_calls'), usageChunk(), DONE),
          events(chunk({ content: 'High.' }, 'stop'), DONE),
        ]
      : [
          () => Response.json({ id: 'c', choices, usage: { prompt_tokens: 9, completion_tokens: 3 } }),
          () =>
            Response.json({ choices: [{ index: 0, message: { content: 'High.' }, finish_reason: 'stop' }] }),
        ]
    const { first } = await toolLoop('openai/gpt-oss-120b', isStream)
    expect(first.content.map(({ type }) => type)).toEqual([
      'thinking',
      'redacted_thinking',
      'thinking',
      'tool_use',
    ])
    expect(seen[1]?.body['messages']).toMatchObject([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', reasoning: 'Short.Hm.', reasoning_details: details.map(withoutIndexOfClaude) },
      { role: 'tool', tool_call_id: 'call_1', content: 'done tide' },
    ])
  })

  test('from one provider to another: foreign thoughts are taken out', async () => {
    const call = { functionCall: { name: 'tide', args: {} }, thoughtSignature: 'c2ln' }
    const thought = { text: 'I ask.', thought: true }
    const parts = { candidates: [{ content: { parts: [thought, call] }, finishReason: 'STOP', index: 0 }] }
    answers = [isStream ? events(parts) : () => Response.json(parts)]
    const first = await turn('tides', HI, isStream)
    answers = [() => Response.json(MESSAGE)]
    const [id = ''] = first.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
    const response = await gateway.call(
      '/messages',
      {
        ...ask({ thinking: THINKING, tools: TOOLS }),
        messages: [
          ...HI,
          { role: 'assistant', content: first.content },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'high' }] },
        ],
      },
      { 'x-service-metadata': 'enabled' },
    )
    expect(replayed().content).toEqual([{ type: 'tool_use', id, name: 'tide', input: {} }])
    expect(seen[1]?.body['thinking']).toBeUndefined()
    const { service_metadata } = await response.json()
    expect(service_metadata.params.dropped_parameters).toEqual(['messages.content.thinking', 'thinking'])
  })
})

/** Claude's own thoughts are counted anew by their place. */
const withoutIndexOfClaude = ({ index, ...detail }: Record<string, unknown>) =>
  detail['format'] === 'anthropic-claude-v1' ? detail : { ...detail, index }

/** The assistant's turn as the provider was sent it. */
function replayed(): { content: unknown[] } {
  const messages = seen[1]?.body['messages']
  if (!Array.isArray(messages)) throw new Error('no messages were sent')
  return messages[1]
}

test('what only the own dialect can carry is named', async () => {
  answers = [
    () => Response.json({ choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }] }),
  ]
  const response = await gateway.call(
    '/messages',
    { ...ask({ model: 'plain-1', speed: 'fast' }), context_management: { edits: [] }, lean: 1 },
    { 'x-service-metadata': 'enabled', 'anthropic-beta': 'some-beta-2026-01-01' },
  )
  expect(seen[0]?.headers.get('anthropic-beta')).toBeNull()
  const { service_metadata } = await response.json()
  expect(service_metadata.params.dropped_parameters).toEqual([
    'anthropic-beta',
    'speed',
    'context_management',
    'lean',
  ])
})

test('a coding agent, with all that it sends, through a model of another dialect', async () => {
  const mark = { cache_control: { type: 'ephemeral' } }
  const body = {
    model: 'sluice/demo',
    max_tokens: 32_000,
    stream: true,
    temperature: 1,
    system: [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2' },
      { type: 'text', text: 'You are an agent.', ...mark },
    ],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: '<system-reminder>Be brief.</system-reminder>' },
          { type: 'text', text: 'List the files.', ...mark },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'I list.', signature: 'c2ln' },
          { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: 'a.txt', is_error: false, ...mark },
        ],
      },
    ],
    tools: [
      {
        name: 'Bash',
        description: 'Runs a command.',
        input_schema: {
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          type: 'object',
          properties: { command: { type: 'string' } },
          required: ['command'],
          additionalProperties: false,
        },
        eager_input_streaming: true,
      },
      { type: 'web_search_20250305', name: 'web_search', max_uses: 8 },
    ],
    tool_choice: { type: 'auto' },
    thinking: { type: 'adaptive' },
    output_config: { effort: 'high' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    metadata: { user_id: JSON.stringify({ device_id: 'd'.repeat(64), session_id: crypto.randomUUID() }) },
  }
  const headers = {
    'x-api-key': API_KEY,
    'content-type': 'application/json',
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27',
  }
  const url = `${gateway.url}/v1/messages`
  const response = await fetch(`${url}?beta=true`, { method: 'POST', headers, body: JSON.stringify(body) })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const text = await response.text()
  expect(text).toStartWith('event: message_start\ndata: {"type":"message_start"')
  expect(text).toContain('"stop_reason":"end_turn"')
  expect(text).toEndWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')
  const { stream, max_tokens, ...prompt } = body
  const counted = await fetch(`${url}/count_tokens?beta=true`, {
    method: 'POST',
    headers,
    body: JSON.stringify(prompt),
  })
  expect((await counted.json()).input_tokens).toBeGreaterThan(100)
})

describe('count_tokens', () => {
  const counted = { model: 'lamps', messages: HI, tools: TOOLS, system: 'Be brief.' }

  test('the provider counts where it can', async () => {
    answers = [() => Response.json({ input_tokens: 1234 })]
    const before = gateway.generations().length
    expect(await client.messages.countTokens(counted)).toEqual({ input_tokens: 1234 })
    expect(seen[0]?.path).toBe('/claude/v1/messages/count_tokens')
    expect(seen[0]?.body).toEqual({ ...counted, model: 'claude-sonnet-4-5' })
    expect(gateway.generations().length).toBe(before)
  })

  test.each([
    ['has no such route', () => new Response('Not found', { status: 404 })],
    ['does not answer well', () => Response.json({})],
    [
      'is overloaded',
      () => Response.json({ type: 'error', error: { type: 'overloaded_error' } }, { status: 529 }),
    ],
  ])('the gateway estimates where the provider %s', async (_, answer) => {
    answers = [answer]
    const { input_tokens } = await client.messages.countTokens(counted)
    expect(input_tokens).toBeGreaterThan(20)
    expect(input_tokens).toBeLessThan(500)
  })

  test('the gateway estimates for other dialects, and asks nobody', async () => {
    const { input_tokens } = await client.messages.countTokens({ ...counted, model: 'plain-1' })
    expect(input_tokens).toBeGreaterThan(20)
    expect(seen).toEqual([])
  })

  test('a refusal of the prompt is told', async () => {
    const error = { type: 'invalid_request_error', message: 'messages: too odd' }
    answers = [() => Response.json({ type: 'error', error }, { status: 400 })]
    const refused = await expectError(client.messages.countTokens(counted), 400, 'invalid_request_error')
    expect(refused).toBeInstanceOf(Anthropic.BadRequestError)
    expect(refused.message).toContain('messages: too odd')
  })

  test('an unknown model and a missing key', async () => {
    const unknown = client.messages.countTokens({ ...counted, model: 'none' })
    expect(await expectError(unknown, 404, 'not_found_error')).toBeInstanceOf(Anthropic.NotFoundError)
    const keyless = clientOf({ apiKey: 'wrong' }).messages.countTokens(counted)
    expect(await expectError(keyless, 401, 'authentication_error')).toBeInstanceOf(
      Anthropic.AuthenticationError,
    )
  })
})

describe('keys', () => {
  test.each([
    ['x-api-key', { apiKey: API_KEY }],
    ['a bearer token', { authToken: API_KEY }],
  ])('%s', async (_, keys) => {
    answers = [() => Response.json(MESSAGE)]
    expect((await clientOf(keys).messages.create(ask())).role).toBe('assistant')
  })

  test('a wrong x-api-key', async () => {
    await expectError(
      clientOf({ apiKey: 'x'.repeat(40) }).messages.create(ask()),
      401,
      'authentication_error',
    )
  })

  test.each([
    [
      'the bearer token wins over a key of somebody else',
      `Bearer ${API_KEY}`,
      'sk-ant-of-somebody-else',
      200,
    ],
    ['a wrong bearer token is wrong beside a right key', `Bearer ${'x'.repeat(40)}`, API_KEY, 401],
    ['so is a header that is no bearer token', `Basic ${API_KEY}`, API_KEY, 401],
  ])('%s', async (_, authorization, key, status) => {
    answers = [() => Response.json(MESSAGE)]
    const response = await gateway.call('/messages', ask(), { authorization, 'x-api-key': key })
    expect(response.status).toBe(status)
  })

  test('an x-api-key opens other routes too', async () => {
    const response = await fetch(`${gateway.url}/api/v1/key`, { headers: { 'x-api-key': API_KEY } })
    expect(response.status).toBe(200)
  })
})

describe('errors have the form of Anthropic', () => {
  const upstreamError =
    (status: number, type: string, headers: Record<string, string> = {}) =>
    () =>
      Response.json({ type: 'error', error: { type, message: 'As told.' } }, { status, headers })
  const rows: [what: string, run: () => Promise<unknown>, status: number, kind: ErrorKind, type: string][] = [
    [
      'a bad field',
      () => client.messages.create(ask({ max_tokens: -1 })),
      400,
      Anthropic.BadRequestError,
      'invalid_request_error',
    ],
    [
      'a management key',
      () => clientOf({ apiKey: MANAGEMENT_KEY }).messages.create(ask()),
      403,
      Anthropic.PermissionDeniedError,
      'permission_error',
    ],
    [
      'an unknown model',
      () => client.messages.create(ask({ model: 'none' })),
      404,
      Anthropic.NotFoundError,
      'not_found_error',
    ],
    ['an unknown method', () => client.get('/v1/messages'), 405, Anthropic.APIError, 'invalid_request_error'],
    [
      'an unknown path',
      () => client.get('/v1/messages/batches'),
      404,
      Anthropic.NotFoundError,
      'not_found_error',
    ],
    [
      'a body too large',
      () => client.messages.create(ask({ system: 'x'.repeat(20_000_001) })),
      413,
      Anthropic.APIError,
      'request_too_large',
    ],
  ]
  test.each(rows)('%s', async (_, run, status, kind, type) => {
    expect(await expectError(run(), status, type)).toBeInstanceOf(kind)
  })

  const fromUpstream: [number, string, number, ErrorKind, string][] = [
    [400, 'invalid_request_error', 400, Anthropic.BadRequestError, 'invalid_request_error'],
    [401, 'authentication_error', 502, Anthropic.InternalServerError, 'api_error'],
    [413, 'request_too_large', 413, Anthropic.APIError, 'request_too_large'],
    [500, 'api_error', 502, Anthropic.InternalServerError, 'api_error'],
    [529, 'overloaded_error', 529, Anthropic.InternalServerError, 'overloaded_error'],
    [429, 'rate_limit_error', 429, Anthropic.RateLimitError, 'rate_limit_error'],
  ]
  test.each(fromUpstream)('a provider that answers %p %s', async (told, word, status, kind, type) => {
    const answer = upstreamError(told, word, told === 429 ? { 'retry-after': '20' } : {})
    answers = [answer, answer]
    const error = await expectError(client.messages.create(ask({ model: 'shared' })), status, type)
    expect(error).toBeInstanceOf(kind)
    if (told === 429) expect(error.headers?.get('retry-after')).toBe('20')
  })

  test('a limit that is reached', async () => {
    const { key } = await gateway.makeKey({ limit: 0 })
    await expectError(clientOf({ apiKey: key }).messages.create(ask()), 402, 'billing_error')
  })

  test('an address of a private network', async () => {
    const source = { type: 'url' as const, url: 'http://192.168.0.1/i.png' }
    const messages = [{ role: 'user' as const, content: [{ type: 'image' as const, source }] }]
    const refused = await expectError(client.messages.create(ask({ messages })), 400, 'invalid_request_error')
    expect(refused.message).toContain('messages[0].content[0].source.url: ')
  })

  test('malformed JSON', async () => {
    const response = await gateway.call('/messages', '{"model":')
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error' },
      request_id: response.headers.get('request-id'),
    })
  })
})

type ErrorKind = new (...args: never[]) => Error

async function expectError(run: PromiseLike<unknown>, status: number, type: string) {
  let error: unknown = null
  try {
    await run
  } catch (thrown) {
    error = thrown
  }
  if (!(error instanceof Anthropic.APIError)) throw new Error(`no APIError but ${String(error)}`)
  const { error: body, requestID } = error
  expect(error.status).toBe(status)
  expect<unknown>(body).toMatchObject({ type: 'error', error: { type }, request_id: requestID })
  expect(requestID).toMatch(/^req-/)
  return error
}
