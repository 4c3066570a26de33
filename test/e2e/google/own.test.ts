import { describe, expect, test } from 'bun:test'
import { events } from '../replies.ts'
import { claudeReply, json, startForGoogle } from './setup.ts'

/** A provider that speaks the caller's dialect: bytes and unknown fields survive, both ways. */

const { gateway, upstream, ask } = await startForGoogle()
const PATH = '/models/tides:generateContent'
const STREAM = '/models/tides:streamGenerateContent?alt=sse'
const HELLO = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }
const ANSWER = {
  candidates: [
    {
      content: {
        role: 'model',
        parts: [
          { text: 'Thinking', thought: true },
          { executableCode: { language: 'PYTHON', code: 'print(1)' } },
          { text: 'High.', thoughtSignature: 'c2lnbmVk', tomorrow: 1 },
        ],
      },
      finishReason: 'STOP',
      index: 0,
      safetyRatings: [{ category: 'HARM', probability: 'LOW' }],
      newField: { deep: true },
    },
  ],
  usageMetadata: {
    promptTokenCount: 4,
    candidatesTokenCount: 2,
    thoughtsTokenCount: 3,
    totalTokenCount: 9,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 4 }],
  },
  modelVersion: 'gemini-3-tides-001',
  responseId: 'theirs',
  brandNew: 'field',
}

test('a request passes unchanged, except the gateway’s own fields', async () => {
  upstream.answers = [json(ANSWER)]
  const sent = {
    contents: [
      {
        role: 'user',
        parts: [
          { text: 'See', video_metadata: { fps: 2 } },
          { file_data: { mime_type: 'video/mp4', file_uri: 'gs://bucket/a.mp4' }, unheardOf: 1 },
        ],
      },
      {
        role: 'model',
        parts: [
          { functionCall: { name: 'f', args: { snake_case: { inline_data: 1 } } }, thoughtSignature: 'c2ln' },
        ],
      },
      { role: 'user', parts: [{ function_response: { name: 'f', response: { mime_type: 'x' } } }] },
    ],
    system_instruction: 'Be brief.',
    safety_settings: [{ category: 'HARM', threshold: 'BLOCK_NONE' }],
    generation_config: { top_k: 3, response_mime_type: 'text/plain', inventedToday: true },
    tools: [{ google_search: {} }],
    labels: { my_label: 'x' },
    session_id: 'mine',
    provider: { only: ['goo'] },
  }
  expect((await ask(PATH, sent)).status).toBe(200)
  expect(upstream.seen[0]?.path).toBe('/goo/v1beta/models/gemini-3-tides:generateContent')
  expect(upstream.seen[0]?.body).toEqual({
    contents: [
      {
        role: 'user',
        parts: [
          { text: 'See', videoMetadata: { fps: 2 } },
          { fileData: { mimeType: 'video/mp4', fileUri: 'gs://bucket/a.mp4' }, unheardOf: 1 },
        ],
      },
      {
        role: 'model',
        parts: [
          { functionCall: { name: 'f', args: { snake_case: { inline_data: 1 } } }, thoughtSignature: 'c2ln' },
        ],
      },
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: { mime_type: 'x' } } }] },
    ],
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    safetySettings: [{ category: 'HARM', threshold: 'BLOCK_NONE' }],
    generationConfig: { topK: 3, responseMimeType: 'text/plain', inventedToday: true },
    tools: [{ googleSearch: {} }],
    labels: { my_label: 'x' },
  })
})

test('a reply passes unchanged, except its id, model and account', async () => {
  upstream.answers = [json(ANSWER)]
  const reply = await (await ask(PATH, HELLO)).json()
  expect(reply).toEqual({
    ...ANSWER,
    usageMetadata: {
      ...ANSWER.usageMetadata,
      cost: 0.000014,
      is_byok: false,
      cost_details: {
        upstream_inference_cost: null,
        upstream_inference_prompt_cost: 0.000004,
        upstream_inference_completions_cost: 0.00001,
      },
    },
    modelVersion: 'tides',
    responseId: expect.stringMatching(/^gen-/),
  })
})

test('so do the chunks of a stream', async () => {
  const [candidate] = ANSWER.candidates
  const { candidates: _, usageMetadata, ...rest } = ANSWER
  const chunkOf = (parts: unknown[], more: object = {}) => ({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
    usageMetadata,
    ...rest,
  })
  const [thought, code, text] = candidate?.content.parts ?? []
  upstream.answers = [
    events(chunkOf([thought]), chunkOf([code, text], { finishReason: 'STOP', newField: { deep: true } })),
  ]
  const chunks = (await (await ask(STREAM, HELLO)).text())
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => JSON.parse(event.slice('data: '.length)))
  const own = { modelVersion: 'tides', responseId: expect.stringMatching(/^gen-/) }
  expect(chunks).toEqual([
    { ...chunkOf([thought]), ...own },
    { ...chunkOf([code, text]), ...own },
    {
      candidates: [
        {
          content: { parts: [{ text: '' }], role: 'model' },
          finishReason: 'STOP',
          newField: { deep: true },
          index: 0,
        },
      ],
      usageMetadata: expect.objectContaining({ ...usageMetadata, cost: 0.000014 }),
      ...own,
    },
  ])
})

test('a prompt that was blocked has feedback and no candidates', async () => {
  const blocked = {
    promptFeedback: { blockReason: 'PROHIBITED_CONTENT', blockReasonMessage: 'no' },
    usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 },
  }
  upstream.answers = [json(blocked), events(blocked)]
  const reply = await (await ask(PATH, HELLO)).json()
  expect(reply.promptFeedback).toEqual(blocked.promptFeedback)
  expect(reply.candidates).toBeUndefined()
  const text = await (await ask(STREAM, HELLO)).text()
  expect(text).toContain('"blockReason":"PROHIBITED_CONTENT"')
  expect(text).not.toContain('candidates"')
})

test('thoughts of another provider are not sent to this one, and Gemini 3 gets its stand-in', async () => {
  const declared = { tools: [{ functionDeclarations: [{ name: 'f' }] }] }
  upstream.answers = [
    json(
      claudeReply(
        [
          { type: 'thinking', thinking: 'Hm.', signature: 'signed' },
          { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
        ],
        'tool_use',
      ),
    ),
    json(ANSWER),
  ]
  const first = await (
    await ask('/models/lamps:generateContent', {
      ...HELLO,
      ...declared,
      generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } },
    })
  ).json()
  const { content } = first.candidates[0]
  expect(content.parts.map((part: object) => Object.keys(part))).toEqual([
    ['text', 'thought'],
    ['functionCall', 'thoughtSignature'],
  ])
  const answered = { role: 'user', parts: [{ functionResponse: { id: 'toolu_1', name: 'f', response: {} } }] }
  const response = await ask(
    PATH,
    { ...declared, contents: [...HELLO.contents, content, answered] },
    { 'x-service-metadata': 'enabled' },
  )
  expect(upstream.seen[1]?.body['contents']).toEqual([
    ...HELLO.contents,
    {
      role: 'model',
      parts: [
        {
          functionCall: { id: 'toolu_1', name: 'f', args: {} },
          thoughtSignature: 'skip_thought_signature_validator',
        },
      ],
    },
    answered,
  ])
  const { service_metadata: metadata } = await response.json()
  expect(metadata.params.dropped_parameters).toEqual(['contents.parts.thoughtSignature'])
})

test('tokens are counted by the provider', async () => {
  upstream.answers = [json({ totalTokens: 31 })]
  const body = { generateContentRequest: { model: 'models/other', ...HELLO, systemInstruction: 'Be brief.' } }
  const counted = await ask('/models/tides:countTokens', body)
  expect(await counted.json()).toEqual({ totalTokens: 31 })
  expect(upstream.seen[0]).toMatchObject({
    path: '/goo/v1beta/models/gemini-3-tides:countTokens',
    body: {
      generateContentRequest: {
        model: 'models/gemini-3-tides',
        contents: HELLO.contents,
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
      },
    },
  })
})

describe('filters on what is answered', () => {
  test.each([PATH, STREAM, '/models/tides:streamGenerateContent'])('%s', async (path) => {
    const { key } = await gateway.makeGuardedKey({
      content_filter_builtins: [{ slug: 'email', action: 'redact', apply_to: 'output' }],
    })
    const parts = [
      { text: 'Ask ann@site.example' },
      { executableCode: { code: 'mail("bob@site.example")' } },
      { functionCall: { name: 'f', args: { to: 'eve@site.example' } } },
    ]
    const whole = {
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', safetyRatings: [] }],
      usageMetadata: ANSWER.usageMetadata,
    }
    upstream.answers = [path === PATH ? json(whole) : events(whole)]
    const text = await (await ask(path, HELLO, { 'x-goog-api-key': key })).text()
    for (const name of ['ann@', 'bob@', 'eve@']) expect(text).not.toContain(name)
    expect(text.match(/\[REDACTED:email\]/g)).toHaveLength(3)
    expect(text).toContain('"finishReason":"STOP"')
    expect(text).toContain('"safetyRatings":[]')
  })
})
