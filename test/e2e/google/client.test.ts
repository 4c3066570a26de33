import { describe, expect, test } from 'bun:test'
import { type Content, type FunctionDeclaration, type GenerateContentResponse, Type } from '@google/genai'
import { events } from '../replies.ts'
import { chatReply, chatStream, claudeReply, claudeStream, json, startForGoogle } from './setup.ts'

/** Google's own client against the gateway, whatever the provider behind it speaks. */

const { gateway, upstream, clientOf } = await startForGoogle()

const weather: FunctionDeclaration = {
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: {
    type: Type.OBJECT,
    properties: { city: { type: Type.STRING, description: 'Its name' } },
    required: ['city'],
  },
}

async function collected(stream: AsyncGenerator<GenerateContentResponse>) {
  const chunks: GenerateContentResponse[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return {
    chunks,
    text: chunks.map((chunk) => textOf(chunk)).join(''),
    parts: chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []),
    last: chunks.at(-1),
  }
}

const textOf = (chunk: GenerateContentResponse): string =>
  (chunk.candidates?.[0]?.content?.parts ?? [])
    .flatMap(({ text, thought }) => (text && !thought ? [text] : []))
    .join('')

describe.each(['v1beta', 'v1', 'api/v1'])('below /%s', (apiVersion) => {
  test('a reply of a chat provider', async () => {
    upstream.answers = [json(chatReply({ content: 'Forty-two.' }))]
    const reply = await clientOf({ apiVersion }).models.generateContent({
      model: 'maker/plain-1',
      contents: 'What is the answer?',
      config: {
        systemInstruction: 'Be brief.',
        temperature: 0.5,
        maxOutputTokens: 99,
        stopSequences: ['END'],
        seed: 3,
      },
    })
    expect(reply.text).toBe('Forty-two.')
    expect(reply.candidates?.[0]?.finishReason).toBe('STOP' as never)
    expect(reply.usageMetadata).toMatchObject({
      promptTokenCount: 10,
      candidatesTokenCount: 5,
      totalTokenCount: 15,
    })
    expect(reply.modelVersion).toBe('maker/plain-1')
    expect(reply.responseId).toMatch(/^gen-/)
    expect(upstream.seen[0]?.path).toBe('/plain/v1/chat/completions')
    expect(upstream.seen[0]?.body).toMatchObject({
      model: 'plain-1',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'What is the answer?' },
      ],
      temperature: 0.5,
      stop: ['END'],
      seed: 3,
    })
    const generation = await gateway.call(`/generation?id=${reply.responseId}`)
    expect((await generation.json()).data).toMatchObject({ api_type: 'gemini', tokens_prompt: 10 })
  })

  test('a stream of a chat provider', async () => {
    upstream.answers = [chatStream('Forty', '-two', '.')]
    const { text, last, chunks } = await collected(
      await clientOf({ apiVersion }).models.generateContentStream({ model: 'maker/plain-1', contents: 'Hi' }),
    )
    expect(text).toBe('Forty-two.')
    expect(chunks.length).toBe(4)
    expect(last?.candidates?.[0]?.finishReason).toBe('STOP' as never)
    expect(last?.usageMetadata?.totalTokenCount).toBe(15)
  })

  test('the list of models', async () => {
    const pager = await clientOf({ apiVersion }).models.list({ config: { pageSize: 2 } })
    const names: string[] = []
    for await (const model of pager) names.push(String(model.name))
    expect(names).toContain('models/maker/plain-1')
    expect(names).toContain('models/lamps')
    expect(new Set(names).size).toBe(names.length)
  })

  test('one model', async () => {
    const model = await clientOf({ apiVersion }).models.get({ model: 'maker/plain-1' })
    expect(model.name).toBe('models/maker/plain-1')
    const failed = clientOf({ apiVersion }).models.get({ model: 'maker/plain-2' })
    await expect(failed).rejects.toMatchObject({ status: 404 })
  })
})

describe('tools', () => {
  test('a loop over a chat provider, streamed', async () => {
    const call = {
      index: 0,
      id: 'call_up',
      type: 'function',
      function: { name: 'get_weather', arguments: '' },
    }
    const piece = (text: string) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] })
    const chunkOf = (delta: object, finish: string | null = null) => ({
      id: 'x',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta, finish_reason: finish }],
    })
    upstream.answers = [
      events(
        chunkOf({ tool_calls: [call] }),
        chunkOf(piece('{"city":')),
        chunkOf(piece('"Rome"}')),
        chunkOf({}, 'tool_calls'),
        'data: [DONE]\n\n',
      ),
      chatStream('Sunny.'),
    ]
    const chat = clientOf().chats.create({
      model: 'maker/plain-1',
      config: { tools: [{ functionDeclarations: [weather] }] },
    })
    const first = await collected(await chat.sendMessageStream({ message: 'Weather in Rome?' }))
    const calls = first.parts.flatMap(({ functionCall }) => (functionCall ? [functionCall] : []))
    expect(calls).toEqual([{ id: 'call_up', name: 'get_weather', args: { city: 'Rome' } }])
    const second = await collected(
      await chat.sendMessageStream({
        message: { functionResponse: { id: 'call_up', name: 'get_weather', response: { output: 'sunny' } } },
      }),
    )
    expect(second.text).toBe('Sunny.')
    expect(upstream.seen[0]?.body['tools']).toEqual([
      {
        type: 'function',
        function: {
          name: 'get_weather',
          description: 'The weather of a city',
          parameters: {
            type: 'object',
            properties: { city: { type: 'string', description: 'Its name' } },
            required: ['city'],
          },
        },
      },
    ])
    expect(upstream.seen[1]?.body['messages']).toMatchObject([
      { role: 'user', content: 'Weather in Rome?' },
      { role: 'assistant', tool_calls: [{ id: 'call_up', function: { arguments: '{"city":"Rome"}' } }] },
      { role: 'tool', tool_call_id: 'call_up', content: 'sunny' },
    ])
  })

  const thought = { type: 'thinking', thinking: 'The city is Rome.', signature: 'signed-by-claude' }
  const use = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Rome' } }
  const config = {
    tools: [{ functionDeclarations: [weather] }],
    thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 },
  }

  test('a loop over a messages provider gives its signed thoughts back', async () => {
    upstream.answers = [
      json(claudeReply([thought, use], 'tool_use')),
      json(claudeReply([{ type: 'text', text: 'Sunny.' }])),
    ]
    const chat = clientOf().chats.create({ model: 'lamps', config })
    const first = await chat.sendMessage({ message: 'Weather in Rome?' })
    const parts = first.candidates?.[0]?.content?.parts ?? []
    expect(parts[0]).toEqual({ text: 'The city is Rome.', thought: true })
    expect(first.functionCalls).toEqual([{ id: 'toolu_1', name: 'get_weather', args: { city: 'Rome' } }])
    const second = await chat.sendMessage({
      message: { functionResponse: { id: 'toolu_1', name: 'get_weather', response: { weather: 'sunny' } } },
    })
    expect(second.text).toBe('Sunny.')
    expect(upstream.seen[0]?.body['thinking']).toEqual({ type: 'enabled', budget_tokens: 2048 })
    expect(upstream.seen[1]?.body['messages']).toEqual([
      { role: 'user', content: 'Weather in Rome?' },
      { role: 'assistant', content: [thought, use] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '{"weather":"sunny"}' }],
      },
    ])
  })

  test('so does a client that drops thoughts, and sends no ids', async () => {
    upstream.answers = [
      claudeStream([thought, use], 'tool_use'),
      claudeStream([{ type: 'text', text: 'Sunny.' }]),
    ]
    const client = clientOf()
    const question: Content = { role: 'user', parts: [{ text: 'Weather in Rome?' }] }
    const first = await collected(
      await client.models.generateContentStream({ model: 'lamps', contents: [question], config }),
    )
    const call = first.parts.find(({ functionCall }) => functionCall)
    expect(first.last?.candidates?.[0]?.finishReason).toBe('STOP' as never)
    const withoutId = { ...call, functionCall: { name: 'get_weather', args: { city: 'Rome' } } }
    const second = await collected(
      await client.models.generateContentStream({
        model: 'lamps',
        contents: [
          question,
          { role: 'model', parts: [withoutId] },
          {
            role: 'user',
            parts: [{ functionResponse: { name: 'get_weather', response: { output: 'sunny' } } }],
          },
        ],
        config,
      }),
    )
    expect(second.text).toBe('Sunny.')
    expect(upstream.seen[1]?.body['messages']).toMatchObject([
      {},
      { role: 'assistant', content: [thought, { ...use, id: 'call_1' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'sunny' }] },
    ])
  })
})

test('tokens are counted, and contents embedded', async () => {
  const counted = await clientOf().models.countTokens({ model: 'maker/plain-1', contents: 'How many?' })
  expect(counted.totalTokens).toBeGreaterThan(0)
  upstream.answers = [
    json({
      object: 'list',
      data: [0, 1].map((index) => ({ object: 'embedding', index, embedding: [index, 0.5] })),
      model: 'embedder',
      usage: { prompt_tokens: 6, total_tokens: 6 },
    }),
  ]
  const embedded = await clientOf().models.embedContent({
    model: 'embedder',
    contents: ['one', 'two'],
    config: { outputDimensionality: 2 },
  })
  expect(embedded.embeddings?.map(({ values }) => values)).toEqual([
    [0, 0.5],
    [1, 0.5],
  ])
  expect(upstream.seen[0]?.body).toMatchObject({ input: ['one', 'two'], dimensions: 2 })
})

test('a wrong key, and a model that is not there', async () => {
  const refused = clientOf({ apiKey: 'sk-sl-v1-wrong' }).models.generateContent({
    model: 'lamps',
    contents: 'Hi',
  })
  await expect(refused).rejects.toMatchObject({ name: 'ApiError', status: 401 })
  const unknown = clientOf().models.generateContent({ model: 'lampz', contents: 'Hi' })
  await expect(unknown).rejects.toThrow('lamps')
})

test('a broken-off stream is an error', async () => {
  upstream.answers = [
    () =>
      new Response(
        new ReadableStream({
          start(controller) {
            const piece = { choices: [{ index: 0, delta: { content: 'For' }, finish_reason: null }] }
            controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(piece)}\n\n`))
            controller.close()
          },
        }),
        { headers: { 'content-type': 'text/event-stream' } },
      ),
  ]
  const stream = await clientOf().models.generateContentStream({ model: 'maker/plain-1', contents: 'Hi' })
  const texts: string[] = []
  const read = async () => {
    for await (const chunk of stream) {
      texts.push(textOf(chunk))
      expect(chunk.candidates?.[0]?.finishReason).toBeUndefined()
    }
  }
  await expect(read()).rejects.toMatchObject({ name: 'ApiError', status: 502 })
  expect(texts.join('')).toBe('For')
})
