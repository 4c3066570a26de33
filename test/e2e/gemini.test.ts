import { expect, test } from 'bun:test'
import type OpenAI from 'openai'
import { gatewayOfFile, openaiOf, queuedUpstream } from '../file-setup.ts'

/** A provider of Google's dialect behind POST /chat/completions, called by the official OpenAI client. */

const upstream = queuedUpstream(async (request) => {
  const { pathname, search } = new URL(request.url)
  const key = request.headers.get('x-goog-api-key')
  const authorization = request.headers.get('authorization')
  const body: Record<string, unknown> = await request.json()
  return { path: pathname, search, key, authorization, body }
})
const gateway = await gatewayOfFile(
  {
    listens: true,
    providers: [
      {
        slug: 'lab',
        name: 'Lab',
        dialect: 'gemini',
        base_url: `${upstream.origin}/v1beta`,
        api_key: 'secret-of-lab',
        models: ['tides', 'refused', 'wrong-key'].map((id) => ({
          id,
          upstream_id: `gemini-3-${id}`,
          pricing: { prompt: '0.000001', completion: '0.000002', input_cache_read: '0.0000001' },
        })),
      },
    ],
  },
  upstream,
)
const client = openaiOf(gateway)

const chunk = (parts: unknown[], more: Record<string, unknown> = {}, usage?: unknown) => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
  ...(usage ? { usageMetadata: usage } : {}),
  modelVersion: 'gemini-3-tides-001',
  responseId: 'r-1',
})
const events = (...chunks: unknown[]): Response =>
  new Response(chunks.map((each) => `data: ${JSON.stringify(each)}\r\n\r\n`).join(''), {
    headers: { 'content-type': 'text/event-stream' },
  })

const USAGE = {
  promptTokenCount: 100,
  cachedContentTokenCount: 40,
  candidatesTokenCount: 9,
  thoughtsTokenCount: 11,
  totalTokenCount: 120,
}
const TOOL: OpenAI.Chat.Completions.ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'tide',
    parameters: { type: 'object', properties: { port: { type: 'string' } }, required: ['port'] },
  },
}
const QUESTION: OpenAI.Chat.Completions.ChatCompletionMessageParam[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Tide in Brest?' },
]

/** The second turn of a tool call: the client sends everything back. */
async function answerCall(message: OpenAI.Chat.Completions.ChatCompletionAssistantMessageParam) {
  const id = message.tool_calls?.[0]?.id ?? ''
  upstream.answers = [
    () =>
      Response.json(
        chunk([{ text: 'High.', thoughtSignature: 'dGhpcmQ=' }], { finishReason: 'STOP' }, USAGE),
      ),
  ]
  const reply = await client.chat.completions.create({
    model: 'tides',
    tools: [TOOL],
    messages: [...QUESTION, message, { role: 'tool', tool_call_id: id, content: 'high' }],
  })
  expect(reply.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'High.' } })
  expect(upstream.seen.at(-1)).toMatchObject({
    path: '/v1beta/models/gemini-3-tides:generateContent',
    search: '',
  })
  return upstream.seen.at(-1)?.body['contents']
}

const REPLAYED = [
  { role: 'user', parts: [{ text: 'Tide in Brest?' }] },
  {
    role: 'model',
    parts: [
      { text: 'I ask the tool.', thought: true },
      {
        functionCall: { name: 'tide', args: { port: 'Brest' } },
        thoughtSignature: 'Zmlyc3Q=',
      },
    ],
  },
  { role: 'user', parts: [{ functionResponse: { name: 'tide', response: { output: 'high' } } }] },
]
const THOUGHT = { text: 'I ask the tool.', thought: true }
const CALL = {
  functionCall: { name: 'tide', args: { port: 'Brest' } },
  thoughtSignature: 'Zmlyc3Q=',
}

test('a streamed turn with a tool and thoughts continues with its signature', async () => {
  upstream.answers = [
    () =>
      events(
        chunk([THOUGHT], {}, { promptTokenCount: 100, totalTokenCount: 100 }),
        chunk([CALL]),
        chunk([{ text: '' }], { finishReason: 'STOP' }, USAGE),
      ),
  ]
  const stream = await client.chat.completions.create({
    model: 'tides',
    stream: true,
    tools: [TOOL],
    reasoning_effort: 'low',
    messages: QUESTION,
  })
  const details: unknown[] = []
  const call = { id: '', type: 'function' as const, function: { name: '', arguments: '' } }
  let finish: string | null = null
  let usage: OpenAI.CompletionUsage | null | undefined
  for await (const { choices, usage: sent } of stream) {
    usage = sent ?? usage
    const [choice] = choices
    finish = choice?.finish_reason ?? finish
    const more: unknown = choice && Reflect.get(choice.delta, 'reasoning_details')
    if (Array.isArray(more)) details.push(...more)
    for (const piece of choice?.delta.tool_calls ?? []) {
      call.id = piece.id ?? call.id
      call.function.name += piece.function?.name ?? ''
      call.function.arguments += piece.function?.arguments ?? ''
    }
  }
  expect(finish).toBe('tool_calls')
  expect(call.function).toEqual({ name: 'tide', arguments: '{"port":"Brest"}' })
  expect(usage).toMatchObject({
    prompt_tokens: 100,
    completion_tokens: 20,
    total_tokens: 120,
    prompt_tokens_details: { cached_tokens: 40 },
    completion_tokens_details: { reasoning_tokens: 11 },
    // 60 × 1 + 40 × 0.1 + 20 × 2 millionths
    cost: 0.000104,
  })
  expect(upstream.seen[0]).toEqual({
    path: '/v1beta/models/gemini-3-tides:streamGenerateContent',
    search: '?alt=sse',
    key: 'secret-of-lab',
    authorization: null,
    body: {
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [{ role: 'user', parts: [{ text: 'Tide in Brest?' }] }],
      tools: [{ functionDeclarations: [{ name: 'tide', parameters: TOOL.function.parameters }] }],
      generationConfig: { thinkingConfig: { thinkingLevel: 'low', includeThoughts: true } },
    },
  })
  const message = {
    role: 'assistant' as const,
    content: null,
    tool_calls: [call],
    reasoning_details: details,
  }
  expect(await answerCall(message)).toEqual(REPLAYED)
})

test('the same turn continues after a complete answer, as the client appends it', async () => {
  upstream.answers = [() => Response.json(chunk([THOUGHT, CALL], { finishReason: 'STOP' }, USAGE))]
  const reply = await client.chat.completions.create({ model: 'tides', tools: [TOOL], messages: QUESTION })
  expect(reply).toMatchObject({ model: 'tides', usage: { prompt_tokens: 100, completion_tokens: 20 } })
  const message = reply.choices[0]?.message
  if (!message) throw new Error('no message')
  expect(message.tool_calls?.[0]).toMatchObject({ function: { name: 'tide', arguments: '{"port":"Brest"}' } })
  expect(await answerCall(message)).toEqual(REPLAYED)
})

test('excluded reasoning has its signature on the call', async () => {
  upstream.answers = [() => Response.json(chunk([CALL], { finishReason: 'STOP' }, USAGE))]
  const body = { model: 'tides', tools: [TOOL], messages: QUESTION, reasoning: { exclude: true } }
  const { choices } = await (await gateway.call('/chat/completions', body)).json()
  const { reasoning, reasoning_details, ...message } = choices[0].message
  expect([reasoning ?? null, reasoning_details ?? null]).toEqual([null, null])
  expect(upstream.seen[0]?.body['generationConfig']).toEqual({ thinkingConfig: { includeThoughts: false } })
  expect(JSON.stringify(await answerCall(message))).toContain('"thoughtSignature":"Zmlyc3Q="')
})

test('parameters that Gemini does not know are named in the metadata', async () => {
  upstream.answers = [() => Response.json(chunk([{ text: 'Hi' }], { finishReason: 'STOP' }, USAGE))]
  const body = { model: 'tides', messages: QUESTION, min_p: 0.1, top_k: 3 }
  const response = await gateway.call('/chat/completions', body, { 'x-service-metadata': 'enabled' })
  const { service_metadata } = await response.json()
  expect(JSON.stringify(service_metadata)).toContain('min_p')
  expect(JSON.stringify(service_metadata)).not.toContain('top_k')
})

test.each([true, false])('a prompt that Google rejects is a filtered answer (stream %p)', async (stream) => {
  const blocked = {
    promptFeedback: { blockReason: 'SAFETY' },
    usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
  }
  upstream.answers = [() => (stream ? events(blocked) : Response.json(blocked))]
  const body = { model: 'refused', stream, messages: QUESTION }
  const response = await gateway.call('/chat/completions', body)
  expect(response.status).toBe(200)
  const text = await response.text()
  expect(text).toContain('"finish_reason":"content_filter"')
  expect(text).toContain('"native_finish_reason":"SAFETY"')
  expect(upstream.seen).toHaveLength(1)
})

test('a key that Google does not know is a 502', async () => {
  const refusal = {
    error: {
      code: 400,
      message: 'API key not valid. Please pass a valid API key.',
      status: 'INVALID_ARGUMENT',
    },
  }
  upstream.answers = [() => Response.json(refusal, { status: 400 })]
  const response = await gateway.call('/chat/completions', { model: 'wrong-key', messages: QUESTION })
  expect(response.status).toBe(502)
  expect(await response.text()).not.toContain('API key not valid')
})
