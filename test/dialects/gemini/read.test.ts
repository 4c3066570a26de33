import { describe, expect, test } from 'bun:test'
import { UpstreamError } from '../../../src/core/errors.ts'
import { geminiEgress } from '../../../src/dialects/gemini/index.ts'
import { readUsage } from '../../../src/dialects/gemini/usage.ts'
import { upstreamReply } from '../../upstream-reply.ts'
import { type Outcome, outcomeOf } from '../chat/outcome.ts'

const chunk = (parts: unknown[], more: Record<string, unknown> = {}) => ({
  candidates: [{ content: { parts, role: 'model' }, ...more }],
})
const END = { finishReason: 'STOP' }

const unary = (body: unknown): Promise<Outcome> =>
  outcomeOf(geminiEgress.read(upstreamReply(JSON.stringify(body)), false))
const streamed = (...chunks: unknown[]): Promise<Outcome> =>
  outcomeOf(
    geminiEgress.read(
      upstreamReply(chunks.map((each) => `data: ${JSON.stringify(each)}\r\n\r\n`).join('')),
      true,
    ),
  )

test('thoughts and signatures are details, those of calls on the call too', async () => {
  const { events, reasoning, text } = await unary(
    chunk(
      [
        { text: 'Hm', thought: true },
        { text: 'See:', thoughtSignature: 'dGV4dA==' },
        { functionCall: { name: 'now' }, thoughtSignature: 'Y2FsbA==' },
      ],
      END,
    ),
  )
  expect([reasoning, text]).toEqual(['Hm', 'See:'])
  const start = events.find((event) => event.type === 'tool-call-start')
  if (start?.type !== 'tool-call-start') throw new Error('no call')
  expect(start.extra).toEqual({ extra_content: { google: { thought_signature: 'Y2FsbA==' } } })
  const format = { format: 'google-gemini-v1', index: 0 }
  expect(events.flatMap((event) => (event.type === 'reasoning-detail' ? [event.detail] : []))).toEqual([
    { type: 'reasoning.text', text: 'Hm', ...format },
    { type: 'reasoning.encrypted', data: 'dGV4dA==', ...format },
    { type: 'reasoning.encrypted', data: 'Y2FsbA==', id: start.id, ...format },
  ])
})

test('positions of sources are counted in characters, each source once', async () => {
  const grounded = {
    ...END,
    groundingMetadata: {
      webSearchQueries: ['a', 'b', ''],
      groundingChunks: [
        { web: { uri: 'https://a.example/', title: 'A' } },
        { web: { uri: 'https://b.example/' } },
      ],
      groundingSupports: [
        { segment: { startIndex: 10, endIndex: 14, text: 'tief' }, groundingChunkIndices: [0, 7] },
      ],
    },
  }
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
  const { annotations, usage } = await streamed(
    chunk([{ text: 'Höß 🌊' }]),
    chunk([{ text: 'tief' }]),
    { ...chunk([{ text: '' }], grounded), usageMetadata },
    { ...chunk([], grounded), usageMetadata },
  )
  const source = { type: 'url_citation', startIndex: 0, endIndex: 0 }
  expect(annotations).toEqual([
    // "Höß 🌊" has 10 bytes of UTF-8 and 6 characters of UTF-16.
    {
      ...source,
      url: 'https://a.example/',
      title: 'A',
      content: 'tief',
      startIndex: 6,
      endIndex: 10,
    },
    { ...source, url: 'https://b.example/', title: 'https://b.example/' },
  ])
  expect(usage?.webSearchRequests).toBe(2)
})

test('several candidates, their reasons and probabilities', async () => {
  const token = (text: string) => ({ token: text, logProbability: -0.5 })
  const logprobsResult = { chosenCandidates: [token('é')], topCandidates: [{ candidates: [token('e')] }] }
  const { events, finishes } = await unary({
    candidates: [
      { content: { parts: [{ text: 'é' }] }, finishReason: 'STOP', index: 0, logprobsResult },
      { content: { parts: [{ functionCall: { name: 'now', args: {} } }] }, finishReason: 'STOP', index: 1 },
      { finishReason: 'LANGUAGE', index: 2 },
    ],
  })
  expect(finishes).toEqual([
    { choice: 0, reason: 'stop', native: 'STOP' },
    { choice: 1, reason: 'tool_calls', native: 'STOP' },
    { choice: 2, reason: 'stop', native: 'LANGUAGE' },
  ])
  expect(events).toContainEqual({
    type: 'logprobs',
    choice: 0,
    logprobs: {
      content: [
        {
          token: 'é',
          logprob: -0.5,
          bytes: [195, 169],
          top_logprobs: [{ token: 'e', logprob: -0.5, bytes: [101] }],
        },
      ],
      refusal: null,
    },
  })
})

test('speech is raw audio with its type; an image of a thought is not content', async () => {
  const inlineData = { mimeType: 'audio/L16;codec=pcm;rate=24000', data: 'AAAA' }
  const drawn = { inlineData: { mimeType: 'image/png', data: 'AAAA' }, thought: true }
  const { events, images } = await unary(chunk([drawn, { inlineData }], END))
  expect(images).toEqual([])
  expect(events).toContainEqual({
    type: 'audio-delta',
    choice: 0,
    audio: { data: 'AAAA', mime_type: 'audio/L16;codec=pcm;rate=24000' },
  })
})

describe('not an answer', () => {
  const pieces = (partialArgs: unknown, name = 'f') => chunk([{ functionCall: { name, partialArgs } }], END)
  const rows: [string, unknown, kind: string, reason: string | RegExp][] = [
    ['nothing', {}, 'malformed', 'the reply holds no candidates'],
    ['no candidates', { candidates: [] }, 'malformed', 'the reply holds no candidates'],
    ['an empty candidate', { candidates: [{}] }, 'truncated', 'the reply ended without a finish'],
    ['a call without a name', chunk([{ functionCall: { args: { a: 1 } } }], END), 'malformed', /no name/],
    [
      'a partial argument without a place',
      pieces([{ jsonPath: 'a..b', numberValue: 1 }]),
      'malformed',
      /belongs nowhere/,
    ],
    [
      'a list index that would exhaust memory',
      pieces([{ jsonPath: '$.a[99999999]', numberValue: 1 }]),
      'malformed',
      /belongs nowhere/,
    ],
    [
      'a place deeper than any JSON',
      pieces([{ jsonPath: `$${'.a'.repeat(200_000)}`, numberValue: 1 }]),
      'malformed',
      /belongs nowhere/,
    ],
    [
      'a call that cannot be parsed',
      chunk([], { finishReason: 'MALFORMED_FUNCTION_CALL' }),
      'malformed',
      /broke its answer off/,
    ],
    [
      'an error',
      { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } },
      'overloaded',
      'The model is overloaded.',
    ],
    [
      'an error in a list',
      [{ error: { code: 429, message: 'Slow down', status: 'RESOURCE_EXHAUSTED' } }],
      'rate-limit',
      'Slow down',
    ],
    [
      'a list truncated between its chunks',
      [chunk([{ text: 'Half' }])],
      'truncated',
      'the reply ended without a finish',
    ],
  ]
  test.each(rows)('%s', async (_, body, kind, reason) => {
    for (const outcome of [await unary(body), await streamed(body)]) {
      expect(outcome.finishes).toEqual([])
      if (!(outcome.error instanceof UpstreamError)) throw new Error(`no UpstreamError but ${outcome.error}`)
      expect(String(outcome.error.kind)).toBe(kind)
      expect(outcome.error.reason).toMatch(reason)
    }
  })

  test('a page', async () => {
    const page = upstreamReply('<!DOCTYPE html><title>404</title>')
    expect((await outcomeOf(geminiEgress.read(page, true))).error).toMatchObject({ kind: 'malformed' })
  })
})

test("OpenAI's end marker, as relays send it, is not a chunk", async () => {
  const text = [chunk([{ text: 'Tide' }], END), '[DONE]']
    .map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`)
    .join('')
  for (const body of [text, text.trimEnd()]) {
    const outcome = await outcomeOf(geminiEgress.read(upstreamReply(body), true))
    expect([outcome.error, outcome.text]).toEqual([undefined, 'Tide'])
  }
})

test('a key of the name __proto__ is a key', async () => {
  const pieces = [{ jsonPath: '$.__proto__.polluted', stringValue: 'yes' }]
  const { calls } = await unary(chunk([{ functionCall: { name: 'f', partialArgs: pieces } }], END))
  expect(calls[0]?.arguments).toBe('{"__proto__":{"polluted":"yes"}}')
  expect(Reflect.get({}, 'polluted')).toBeUndefined()
})

describe('usage', () => {
  const tokens = (modality: unknown, tokenCount: number) => ({ modality, tokenCount })
  const empty = {
    inputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    audioInputTokens: 0,
    imageInputTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
    audioOutputTokens: 0,
    imageOutputTokens: 0,
  }
  test.each<[string, unknown, Record<string, number> | undefined]>([
    ['nothing', undefined, undefined],
    ['only the traffic type', { trafficType: 'ON_DEMAND' }, undefined],
    ['zero is a count', { promptTokenCount: 0, totalTokenCount: 0 }, {}],
    [
      'thoughts are counted apart',
      { promptTokenCount: 5, candidatesTokenCount: 3, thoughtsTokenCount: 7 },
      { inputTokens: 5, outputTokens: 3, reasoningTokens: 7 },
    ],
    ['results of tools are input', { promptTokenCount: 5, toolUsePromptTokenCount: 4 }, { inputTokens: 9 }],
    [
      'cached tokens are part of the prompt, audio too',
      {
        promptTokenCount: 1200,
        cachedContentTokenCount: 1100,
        promptTokensDetails: [tokens('TEXT', 1000), tokens('AUDIO', 200)],
        cacheTokensDetails: [tokens('TEXT', 950), tokens('AUDIO', 150)],
      },
      { inputTokens: 50, audioInputTokens: 50, cacheReadTokens: 1100 },
    ],
    [
      'numbered modalities',
      { promptTokenCount: 521, promptTokensDetails: [tokens(2, 516), tokens(1, 5)] },
      { inputTokens: 5, imageInputTokens: 516 },
    ],
    [
      'images and speech',
      { candidatesTokenCount: 300, candidatesTokensDetails: [tokens('IMAGE', 258), tokens('AUDIO', 30)] },
      { outputTokens: 12, imageOutputTokens: 258, audioOutputTokens: 30 },
    ],
    [
      'more cached tokens than prompt tokens',
      { promptTokenCount: 3, cachedContentTokenCount: 9 },
      { cacheReadTokens: 3 },
    ],
  ])('%s', (_, raw, expected) => {
    expect(readUsage(raw)).toEqual(expected === undefined ? undefined : { ...empty, ...expected })
  })
})
