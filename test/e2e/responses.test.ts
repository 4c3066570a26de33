import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import OpenAI, { APIError } from 'openai'
import { checkStream } from '../dialects/responses/stream-order.ts'
import { API_KEY, type Gateway, startGateway } from '../gateway.ts'
import { chunk, DONE, sse, usageChunk } from '../upstream.ts'

/** POST /responses before providers of four dialects, called by OpenAI's own client. */

interface Seen {
  path: string
  body: Record<string, unknown>
}

let gateway: Gateway
let client: OpenAI
let seen: Seen[] = []
let answers: Response[] = []
const upstream = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    seen.push({ path: new URL(request.url).pathname, body: await request.json() })
    return answers.shift() ?? new Response('nothing more', { status: 500 })
  },
})

const DIALECTS = ['chat', 'messages', 'gemini', 'responses'] as const
const pricing = { prompt: '0.000001', completion: '0.000002' }

beforeAll(async () => {
  gateway = await startGateway({
    listens: true,
    providers: DIALECTS.map((dialect) => ({
      slug: `lab-${dialect}`,
      name: `Lab ${dialect}`,
      dialect,
      base_url: `http://127.0.0.1:${upstream.port}/v1`,
      api_key: 'secret',
      models: [
        {
          id: `${dialect}-lamps`,
          upstream_id: dialect === 'gemini' ? 'gemini-3-lamps' : 'lamps',
          max_completion_tokens: 9_000,
          pricing,
        },
        ...['refused', 'broken', 'busy'].map((id) => ({ id: `${dialect}-${id}`, upstream_id: id, pricing })),
      ],
    })),
  })
  gateway.deps.run.wait = async () => undefined
  client = new OpenAI({ baseURL: `${gateway.url}/api/v1`, apiKey: API_KEY, maxRetries: 0 })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})
beforeEach(() => {
  seen = []
  answers = []
})

const events = (...list: Record<string, unknown>[]): Response =>
  sse(list.map((event) => `event: ${event['type']}\ndata: ${JSON.stringify(event)}\n\n`))

/** A turn that thinks, says something and calls a tool, in the words of each dialect, streamed; and what comes back. */
const TURNS: Record<
  (typeof DIALECTS)[number],
  { stream: () => Response; replayed: (body: Record<string, unknown>) => void }
> = {
  chat: {
    stream: () =>
      sse([
        chunk({ role: 'assistant', content: '' }),
        chunk({ reasoning: 'Two lamps.' }),
        chunk({ content: 'I switch.' }),
        chunk({
          tool_calls: [
            { index: 0, id: 'call_a', type: 'function', function: { name: 'set_lamp', arguments: '' } },
          ],
        }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '{"on":true}' } }] }),
        chunk({}, 'tool_calls'),
        usageChunk(),
        DONE,
      ]),
    replayed: ({ messages }) =>
      expect(messages).toEqual([
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Light!' },
        {
          role: 'assistant',
          content: 'I switch.',
          tool_calls: [
            { id: 'call_a', type: 'function', function: { name: 'set_lamp', arguments: '{"on":true}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_a', content: 'done' },
      ]),
  },
  messages: {
    stream: () =>
      events(
        {
          type: 'message_start',
          message: {
            id: 'msg_up',
            type: 'message',
            role: 'assistant',
            model: 'lamps',
            content: [],
            stop_reason: null,
            usage: { input_tokens: 10, output_tokens: 1 },
          },
        },
        {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'thinking', thinking: '', signature: '' },
        },
        { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Two ' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'lamps.' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2lnbmVk' } },
        { type: 'content_block_stop', index: 0 },
        { type: 'content_block_start', index: 1, content_block: { type: 'redacted_thinking', data: 'cmVk' } },
        { type: 'content_block_stop', index: 1 },
        { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'I switch.' } },
        { type: 'content_block_stop', index: 2 },
        {
          type: 'content_block_start',
          index: 3,
          content_block: { type: 'tool_use', id: 'call_a', name: 'set_lamp', input: {} },
        },
        {
          type: 'content_block_delta',
          index: 3,
          delta: { type: 'input_json_delta', partial_json: '{"on":true}' },
        },
        { type: 'content_block_stop', index: 3 },
        {
          type: 'message_delta',
          delta: { stop_reason: 'tool_use', stop_sequence: null },
          usage: { output_tokens: 5 },
        },
        { type: 'message_stop' },
      ),
    replayed: ({ messages, system, thinking }) => {
      expect([system, thinking]).toMatchObject(['Be brief.', { type: 'enabled' }])
      expect(messages).toEqual([
        { role: 'user', content: 'Light!' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Two lamps.', signature: 'c2lnbmVk' },
            { type: 'redacted_thinking', data: 'cmVk' },
            { type: 'text', text: 'I switch.' },
            { type: 'tool_use', id: 'call_a', name: 'set_lamp', input: { on: true } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_a', content: 'done' }] },
      ])
    },
  },
  gemini: {
    stream: () =>
      sse(
        [
          {
            candidates: [
              { content: { role: 'model', parts: [{ text: 'Two lamps.', thought: true }] }, index: 0 },
            ],
          },
          { candidates: [{ content: { role: 'model', parts: [{ text: 'I switch.' }] }, index: 0 }] },
          {
            candidates: [
              {
                content: {
                  role: 'model',
                  parts: [
                    { functionCall: { name: 'set_lamp', args: { on: true } }, thoughtSignature: 'c2lnbmVk' },
                  ],
                },
                index: 0,
                finishReason: 'STOP',
              },
            ],
            usageMetadata: {
              promptTokenCount: 10,
              candidatesTokenCount: 3,
              thoughtsTokenCount: 2,
              totalTokenCount: 15,
            },
          },
        ].map((each) => `data: ${JSON.stringify({ ...each, responseId: 'r', modelVersion: 'v' })}\r\n\r\n`),
      ),
    replayed: ({ contents, systemInstruction }) => {
      expect(systemInstruction).toEqual({ parts: [{ text: 'Be brief.' }] })
      expect(contents).toEqual([
        { role: 'user', parts: [{ text: 'Light!' }] },
        {
          role: 'model',
          parts: [
            { text: 'Two lamps.', thought: true },
            { text: 'I switch.' },
            { functionCall: { name: 'set_lamp', args: { on: true } }, thoughtSignature: 'c2lnbmVk' },
          ],
        },
        { role: 'user', parts: [{ functionResponse: { name: 'set_lamp', response: { output: 'done' } } }] },
      ])
    },
  },
  responses: {
    stream: () => {
      const shared = {
        id: 'resp_up',
        object: 'response',
        created_at: 1,
        model: 'lamps',
        error: null,
        incomplete_details: null,
      }
      const reasoning = {
        type: 'reasoning',
        id: 'rs_up',
        summary: [{ type: 'summary_text', text: 'Two lamps.' }],
        encrypted_content: 'gAAA',
      }
      const message = {
        type: 'message',
        id: 'msg_up',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'I switch.', annotations: [] }],
      }
      const call = {
        type: 'function_call',
        id: 'fc_up',
        call_id: 'call_a',
        name: 'set_lamp',
        arguments: '{"on":true}',
        status: 'completed',
      }
      const usage = {
        input_tokens: 10,
        output_tokens: 5,
        total_tokens: 15,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 2 },
      }
      return events(
        {
          type: 'response.created',
          sequence_number: 0,
          response: { ...shared, status: 'in_progress', output: [] },
        },
        {
          type: 'response.output_item.added',
          sequence_number: 1,
          output_index: 0,
          item: { ...reasoning, summary: [], encrypted_content: '' },
        },
        {
          type: 'response.reasoning_summary_text.delta',
          sequence_number: 2,
          item_id: 'rs_up',
          output_index: 0,
          summary_index: 0,
          delta: 'Two lamps.',
        },
        { type: 'response.output_item.done', sequence_number: 3, output_index: 0, item: reasoning },
        {
          type: 'response.output_item.added',
          sequence_number: 4,
          output_index: 1,
          item: { ...message, content: [], status: 'in_progress' },
        },
        {
          type: 'response.output_text.delta',
          sequence_number: 5,
          item_id: 'msg_up',
          output_index: 1,
          content_index: 0,
          delta: 'I switch.',
        },
        { type: 'response.output_item.done', sequence_number: 6, output_index: 1, item: message },
        {
          type: 'response.output_item.added',
          sequence_number: 7,
          output_index: 2,
          item: { ...call, arguments: '', status: 'in_progress' },
        },
        {
          type: 'response.function_call_arguments.delta',
          sequence_number: 8,
          item_id: 'fc_up',
          output_index: 2,
          delta: '{"on":true}',
        },
        { type: 'response.output_item.done', sequence_number: 9, output_index: 2, item: call },
        {
          type: 'response.completed',
          sequence_number: 10,
          response: { ...shared, status: 'completed', output: [reasoning, message, call], usage },
        },
      )
    },
    replayed: ({ input, instructions, store }) => {
      expect([instructions, store]).toEqual(['Be brief.', false])
      expect(input).toMatchObject([
        { role: 'user', content: 'Light!' },
        { type: 'reasoning', id: 'rs_up', summary: [{ text: 'Two lamps.' }], encrypted_content: 'gAAA' },
        { type: 'message', id: 'msg_up', content: [{ text: 'I switch.' }] },
        { type: 'function_call', id: 'fc_up', call_id: 'call_a', name: 'set_lamp', arguments: '{"on":true}' },
        { type: 'function_call_output', call_id: 'call_a', output: 'done' },
      ])
    },
  },
}

const TOOLS: OpenAI.Responses.FunctionTool[] = [
  {
    type: 'function',
    name: 'set_lamp',
    parameters: { type: 'object', properties: { on: { type: 'boolean' } } },
    strict: false,
  },
]
const asked = (dialect: string) => ({
  model: `${dialect}-lamps`,
  instructions: 'Be brief.',
  input: [{ role: 'user' as const, content: 'Light!' }],
  tools: TOOLS,
  reasoning: { effort: 'high' as const },
})

/** The next turn: everything that the client got goes back, and the output of the call. */
async function answerCall(dialect: (typeof DIALECTS)[number], output: OpenAI.Responses.ResponseOutputItem[]) {
  answers = [TURNS[dialect].stream()]
  const input: OpenAI.Responses.ResponseInput = [
    ...asked(dialect).input,
    ...output.filter(
      (item) => item.type === 'reasoning' || item.type === 'message' || item.type === 'function_call',
    ),
    { type: 'function_call_output', call_id: 'call_a', output: 'done' },
  ]
  if (dialect === 'gemini') {
    const call = output.find((item) => item.type === 'function_call')
    input.splice(-1, 1, { type: 'function_call_output', call_id: call?.call_id ?? '', output: 'done' })
  }
  await client.responses.stream({ ...asked(dialect), input }).finalResponse()
  TURNS[dialect].replayed(seen.at(-1)?.body ?? {})
}

describe.each(DIALECTS)('two turns that think and call, at a provider of %s', (dialect) => {
  test('streamed', async () => {
    answers = [TURNS[dialect].stream()]
    const response = await client.responses.stream(asked(dialect)).finalResponse()
    expect(response).toMatchObject({
      status: 'completed',
      model: `${dialect}-lamps`,
      output_text: 'I switch.',
    })
    expect(response.usage).toMatchObject({
      input_tokens: 10,
      output_tokens: 5,
      total_tokens: 15,
      cost: 0.00002,
    })
    expect(response.output.map(({ type }) => type).filter((type) => type !== 'reasoning')).toEqual([
      'message',
      'function_call',
    ])
    const shown = response.output.flatMap((item) =>
      item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])] : [],
    )
    expect(shown.map(({ text }) => text).join('')).toBe('Two lamps.')
    await answerCall(dialect, response.output)
  })

  test('with one reply for the stream', async () => {
    answers = [TURNS[dialect].stream()]
    const response = await client.responses.create(asked(dialect))
    expect(response).toMatchObject({ status: 'completed', output_text: 'I switch.' })
    await answerCall(dialect, response.output)
  })

  test('kept by the gateway, and gone on with by its id', async () => {
    answers = [TURNS[dialect].stream()]
    const first = await client.responses.stream({ ...asked(dialect), store: true }).finalResponse()
    const call = first.output.find((item) => item.type === 'function_call')
    answers = [TURNS[dialect].stream()]
    const second = await client.responses.create({
      ...asked(dialect),
      previous_response_id: first.id,
      input: [{ type: 'function_call_output', call_id: call?.call_id ?? '', output: 'done' }],
    })
    expect(second).toMatchObject({ previous_response_id: first.id, status: 'completed' })
    TURNS[dialect].replayed(seen.at(-1)?.body ?? {})
  })

  test('under both names of the reasoning events, to whoever reads the stream itself', async () => {
    answers = [TURNS[dialect].stream()]
    const reply = await gateway.call(
      '/responses',
      { ...asked(dialect), stream: true },
      { 'x-service-metadata': 'enabled' },
    )
    expect(reply.headers.get('content-type')).toBe('text/event-stream')
    const { events: told, response, ending } = checkStream(await reply.text())
    expect(ending).toBe('completed')
    expect(response).toMatchObject({
      id: String(reply.headers.get('x-generation-id')).replace('gen-', 'resp_'),
      service_metadata: { requested: `${dialect}-lamps` },
    })
    const deltas = (type: RegExp) =>
      told.filter((event) => type.test(String(event['type']))).map(({ delta }) => delta)
    expect(deltas(/^response\.reasoning\.delta$/).join('')).toBe('Two lamps.')
    expect(deltas(/^response\.reasoning(_summary)?_text\.delta$/).join('')).toBe('Two lamps.')
    const generation = await gateway.call(`/generation?id=${response['id']}`)
    expect(await generation.json()).toMatchObject({
      data: { api_type: 'responses', streamed: true, finish_reason: 'tool_calls' },
    })
  })
})

test('thoughts of one provider are left behind at another of another kind', async () => {
  answers = [TURNS.messages.stream()]
  const { output } = await client.responses.create(asked('messages'))
  for (const dialect of ['responses', 'gemini', 'chat'] as const) {
    answers = [TURNS[dialect].stream()]
    const input = [
      ...asked(dialect).input,
      ...output,
      { type: 'function_call_output', call_id: 'call_a', output: 'done' },
    ]
    const reply = await gateway.call(
      '/responses',
      { ...asked(dialect), input },
      { 'x-service-metadata': 'enabled' },
    )
    expect(reply.status).toBe(200)
    expect(JSON.stringify(seen.at(-1)?.body)).not.toContain('sluice.v1.')
    expect(JSON.stringify(seen.at(-1)?.body)).not.toContain('c2lnbmVk')
    expect(JSON.stringify((await reply.json()).service_metadata.params)).toContain('reasoning')
  }
})

test('a schema for the answer', async () => {
  const unary = {
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'lamps',
    choices: [{ index: 0, message: { role: 'assistant', content: '{"on":true}' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }
  answers = [Response.json(unary)]
  const schema = {
    type: 'object',
    properties: { on: { type: 'boolean' } },
    required: ['on'],
    additionalProperties: false,
  }
  const response = await client.responses.parse({
    model: 'chat-lamps',
    input: 'On?',
    text: { format: { type: 'json_schema', name: 'lamp', schema, strict: true } },
  })
  expect(response.output_text).toBe('{"on":true}')
  expect(seen[0]?.body['response_format']).toEqual({
    type: 'json_schema',
    json_schema: { name: 'lamp', schema, strict: true },
  })
  expect(response.text).toMatchObject({ format: { type: 'json_schema', name: 'lamp' } })
})

test('what another dialect cannot be told is named', async () => {
  answers = [sse([chunk({ content: 'Hi' }), chunk({}, 'stop'), usageChunk(), DONE])]
  const body = {
    model: 'chat-lamps',
    input: [
      { role: 'user', content: 'x' },
      { type: 'web_search_call', id: 'ws', status: 'completed' },
    ],
    tools: [{ type: 'web_search' }],
    truncation: 'auto',
    new_field: 1,
  }
  const reply = await gateway.call('/responses', body, { 'x-service-metadata': 'enabled' })
  const { service_metadata } = await reply.json()
  expect(service_metadata.params.dropped_parameters.toSorted()).toEqual([
    'content.web_search_call',
    'new_field',
    'tools.web_search',
    'truncation',
  ])
})

describe('failures', () => {
  test.each(DIALECTS)('a refusal before the stream keeps its status: %s', async (dialect) => {
    answers = [
      Response.json(
        { error: { message: 'too long a prompt', type: 'invalid_request_error', code: 'x' } },
        { status: 400 },
      ),
    ]
    const failure = await client.responses
      .create({ model: `${dialect}-refused`, input: 'x', stream: true })
      .then(
        () => null,
        (error: unknown) => error,
      )
    if (!(failure instanceof APIError)) throw new Error('it was not refused')
    expect([failure.status, failure.message]).toEqual([400, expect.stringContaining('too long a prompt')])
  })

  test('a stream that breaks ends in response.failed and [DONE]', async () => {
    answers = [sse([chunk({ role: 'assistant', content: 'Hal' })])]
    const reply = await gateway.call('/responses', { model: 'chat-broken', input: 'x', stream: true })
    expect(reply.status).toBe(200)
    const { ending, response } = checkStream(await reply.text())
    expect(ending).toBe('failed')
    expect(response).toMatchObject({
      output_text: 'Hal',
      error: { code: 'server_error', message: 'Lab chat ended the answer before it was complete' },
      error_type: 'provider_unavailable',
    })
    expect(gateway.generations().at(-1)).toMatchObject({
      finish_reason: 'error',
      cancelled: 0,
      api_type: 'responses',
    })
  })

  test('a bad body is a 400 that names the field', async () => {
    const reply = await gateway.call('/responses', {
      model: 'chat-lamps',
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,aGk=' }] }],
    })
    expect(reply.status).toBe(400)
    expect((await reply.json()).error).toMatchObject({
      code: 400,
      message: expect.stringMatching(/^input\[0\]\.content\[0\]\.image_url: /),
    })
    expect(seen).toHaveLength(0)
  })

  test('an address of a private network is refused, by its place', async () => {
    const reply = await gateway.call('/responses', {
      model: 'chat-lamps',
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'http://169.254.1.1/x.png' }] }],
    })
    expect(reply.status).toBe(400)
    expect((await reply.json()).error.message).toContain('input[0].content[0].image_url')
  })

  test('without a key, and with one of the wrong kind', async () => {
    expect((await gateway.call('/responses', { input: 'x' }, { authorization: 'none' })).status).toBe(401)
    expect((await gateway.manage('POST', '/responses', { input: 'x' })).status).toBe(403)
  })
})
