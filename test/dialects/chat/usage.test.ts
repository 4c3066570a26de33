import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { completionTokens, NO_USAGE, promptTokens, type Usage } from '../../../src/core/usage.ts'
import { readUsage } from '../../../src/dialects/chat/usage.ts'

type Json = Record<string, unknown>
const reported = (prompt: number, completion: number, more: Json = {}): Json => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  ...more,
})
const input = (details: Json): Json => ({ prompt_tokens_details: details })
const output = (details: Json): Json => ({ completion_tokens_details: details })

const rows: [name: string, raw: Json, buckets: Partial<Usage>][] = [
  ['plain', reported(10, 5), { inputTokens: 10, outputTokens: 5 }],
  ['zeros are reported', reported(0, 0), {}],
  ['without a total', { prompt_tokens: 10, completion_tokens: 5 }, { inputTokens: 10, outputTokens: 5 }],
  ['only one sum', { prompt_tokens: 10 }, { inputTokens: 10 }],
  [
    'cache reads and reasoning are inside',
    reported(10, 5, { ...input({ cached_tokens: 4 }), ...output({ reasoning_tokens: 3 }) }),
    { inputTokens: 6, cacheReadTokens: 4, outputTokens: 2, reasoningTokens: 3 },
  ],
  [
    'cache writes (OpenRouter)',
    reported(10, 5, input({ cached_tokens: 4, cache_write_tokens: 5 })),
    { inputTokens: 1, cacheReadTokens: 4, cacheWriteTokens: 5, outputTokens: 5 },
  ],
  [
    'cache hits (DeepSeek)',
    reported(10, 5, { prompt_cache_hit_tokens: 8, prompt_cache_miss_tokens: 2 }),
    {
      inputTokens: 2,
      cacheReadTokens: 8,
      outputTokens: 5,
      native: { dialect: 'chat', fields: { prompt_cache_hit_tokens: 8, prompt_cache_miss_tokens: 2 } },
    },
  ],
  [
    'cache reads beside the sums (Moonshot)',
    reported(10, 5, { cached_tokens: 8 }),
    {
      inputTokens: 2,
      cacheReadTokens: 8,
      outputTokens: 5,
      native: { dialect: 'chat', fields: { cached_tokens: 8 } },
    },
  ],
  [
    'further counts in the details are carried, except nulls (OpenRouter, xAI)',
    reported(10, 5, {
      ...input({ cached_tokens: 4, video_tokens: 3, text_tokens: 6, multimodal_tokens: null }),
      ...output({ reasoning_tokens: 3, speech_tokens: 1 }),
    }),
    {
      inputTokens: 6,
      cacheReadTokens: 4,
      outputTokens: 2,
      reasoningTokens: 3,
      native: {
        dialect: 'chat',
        fields: {
          prompt_tokens_details: { video_tokens: 3, text_tokens: 6 },
          completion_tokens_details: { speech_tokens: 1 },
        },
      },
    },
  ],
  [
    'audio and images',
    reported(10, 9, {
      ...input({ audio_tokens: 3, image_tokens: 4 }),
      ...output({ audio_tokens: 2, image_tokens: 6 }),
    }),
    {
      inputTokens: 3,
      audioInputTokens: 3,
      imageInputTokens: 4,
      outputTokens: 1,
      audioOutputTokens: 2,
      imageOutputTokens: 6,
    },
  ],
  [
    'reasoning outside (xAI)',
    { prompt_tokens: 12, completion_tokens: 2, total_tokens: 354, ...output({ reasoning_tokens: 340 }) },
    { inputTokens: 12, outputTokens: 2, reasoningTokens: 340 },
  ],
  [
    'reasoning outside and no total',
    { prompt_tokens: 12, completion_tokens: 2, ...output({ reasoning_tokens: 340 }) },
    { inputTokens: 12, outputTokens: 2, reasoningTokens: 340 },
  ],
  [
    'thoughts only in the total (Gemini)',
    { prompt_tokens: 35, completion_tokens: 12, total_tokens: 109 },
    { inputTokens: 35, outputTokens: 12, reasoningTokens: 62 },
  ],
  [
    'caches outside',
    {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 45,
      ...input({ cached_tokens: 20, cache_write_tokens: 10 }),
    },
    { inputTokens: 10, cacheReadTokens: 20, cacheWriteTokens: 10, outputTokens: 5 },
  ],
  [
    'audio outside (Mistral)',
    {
      prompt_tokens: 14,
      completion_tokens: 20,
      total_tokens: 284,
      ...input({ cached_tokens: 9, audio_tokens: 250 }),
    },
    { inputTokens: 5, cacheReadTokens: 9, audioInputTokens: 250, outputTokens: 20 },
  ],
  [
    'caches and reasoning outside',
    {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 42,
      ...input({ cached_tokens: 20 }),
      ...output({ reasoning_tokens: 7 }),
    },
    { inputTokens: 10, cacheReadTokens: 20, outputTokens: 5, reasoningTokens: 7 },
  ],
  [
    'more cached tokens than input tokens',
    reported(7, 8, input({ cached_tokens: 161 })),
    { cacheReadTokens: 7, outputTokens: 8 },
  ],
  [
    'more reasoning tokens than output tokens',
    reported(43, 10, output({ reasoning_tokens: 11 })),
    { inputTokens: 43, reasoningTokens: 10 },
  ],
  [
    'a total that is too small',
    { prompt_tokens: 10, completion_tokens: 5, total_tokens: 0 },
    { inputTokens: 10, outputTokens: 5 },
  ],
  [
    'nulls',
    reported(10, 5, {
      prompt_tokens_details: null,
      completion_tokens_details: { reasoning_tokens: null },
      cost: null,
    }),
    { inputTokens: 10, outputTokens: 5 },
  ],
  [
    'predictions',
    reported(10, 5, output({ accepted_prediction_tokens: 2, rejected_prediction_tokens: 0 })),
    { inputTokens: 10, outputTokens: 5, acceptedPredictionTokens: 2, rejectedPredictionTokens: 0 },
  ],
  [
    'a cost (OpenRouter)',
    reported(10, 5, { cost: 0.0125, server_tool_use_details: { web_search_requests: 2 } }),
    { inputTokens: 10, outputTokens: 5, providerCostUsd: 0.0125, webSearchRequests: 2 },
  ],
  [
    'costs (Perplexity)',
    reported(10, 5, { cost: { input_tokens_cost: 0.001, total_cost: 0.006 }, num_search_queries: 3 }),
    {
      inputTokens: 10,
      outputTokens: 5,
      providerCostUsd: 0.006,
      webSearchRequests: 3,
      native: { dialect: 'chat', fields: { num_search_queries: 3 } },
    },
  ],
]

describe('usage in disjoint buckets', () => {
  test.each(rows)('%s', (_, raw, buckets) => {
    expect(readUsage(raw)).toEqual({ ...NO_USAGE, ...buckets })
  })

  test.each([
    [undefined],
    [null],
    [{}],
    [[]],
    ['12'],
    [{ prompt_tokens: null }],
    [{ prompt_tokens: '12' }],
    [{ prompt_tokens: -1 }],
    [{ prompt_tokens: Number.NaN }],
  ])('%p has no usage', (raw) => {
    expect(readUsage(raw)).toBeUndefined()
  })

  test('never counts a token twice, nor loses one of the sums', () => {
    const tokens = fc.integer({ min: 0, max: 2_000 })
    const shape = fc.record({
      prompt: tokens,
      completion: tokens,
      cached: tokens,
      written: tokens,
      reasoning: tokens,
      audio: tokens,
    })
    fc.assert(
      fc.property(shape, ({ prompt, completion, cached, written, reasoning, audio }) => {
        const usage = readUsage(
          reported(prompt, completion, {
            ...input({ cached_tokens: cached, cache_write_tokens: written, audio_tokens: audio }),
            ...output({ reasoning_tokens: reasoning, audio_tokens: audio }),
          }),
        )
        expect(usage && promptTokens(usage)).toBe(prompt)
        expect(usage && completionTokens(usage)).toBe(completion)
        for (const count of Object.values(usage ?? {})) expect(count).toBeGreaterThanOrEqual(0)
      }),
      { seed: 7 },
    )
  })
})
