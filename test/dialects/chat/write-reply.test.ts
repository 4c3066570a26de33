import { describe, expect, test } from 'bun:test'
import type { InferenceResult, ResultChoice } from '../../../src/core/result.ts'
import { NO_USAGE } from '../../../src/core/usage.ts'
import { writeChatReply } from '../../../src/dialects/chat/write-reply.ts'
import { closingOf } from '../replies.ts'
import { REPLY } from './chunks.ts'

const CLOSING = closingOf({
  finishes: [],
  usage: { ...NO_USAGE, inputTokens: 2, outputTokens: 3 },
  costNanoUsd: 12_345_678_901,
  promptCostNanoUsd: 2_345_678_901,
  completionCostNanoUsd: 10_000_000_000,
})
const EMPTY: ResultChoice = {
  index: 0,
  text: '',
  reasoning: '',
  reasoningDetails: [],
  refusal: '',
  toolCalls: [],
  annotations: [],
  images: [],
  audio: null,
  logprobs: null,
  finish: { choice: 0, reason: 'stop', native: 'STOP' },
}
const resultOf = (choice: Partial<ResultChoice>, natives: unknown[] = []): InferenceResult => ({
  created: null,
  choices: [{ ...EMPTY, ...choice }],
  natives: natives.map((data) => ({ dialect: 'chat', data })),
})

test('a plain answer', () => {
  expect(writeChatReply(resultOf({ text: 'Hi' }), REPLY, CLOSING)).toEqual({
    id: 'gen-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'acme/large',
    provider: 'Acme',
    system_fingerprint: null,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hi', refusal: null },
        finish_reason: 'stop',
        native_finish_reason: 'STOP',
        logprobs: null,
      },
    ],
    usage: {
      prompt_tokens: 2,
      completion_tokens: 3,
      total_tokens: 5,
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
      cost: 12.345678901,
      is_byok: false,
      cost_details: {
        upstream_inference_cost: null,
        upstream_inference_prompt_cost: 2.345678901,
        upstream_inference_completions_cost: 10,
      },
    },
    service_tier: null,
  })
})

describe('messages', () => {
  const call = { id: 'c1', name: 'f', arguments: '{}' }
  const detail = { type: 'reasoning.text', text: 'hm', signature: 's' }
  const rows: [string, Partial<ResultChoice>, object][] = [
    ['an empty answer is an empty text', {}, { content: '' }],
    [
      'only tool calls: no text',
      { toolCalls: [call] },
      {
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
    ],
    [
      'unknown fields of a tool call',
      { text: 'x', toolCalls: [{ ...call, extra: { sig: 1 } }] },
      {
        content: 'x',
        tool_calls: [{ sig: 1, id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
    ],
    [
      'a call of a custom tool',
      { toolCalls: [{ ...call, arguments: 'free text', extra: { type: 'custom' } }] },
      { tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'f', input: 'free text' } }] },
    ],
    ['a refusal', { refusal: 'no' }, { content: null, refusal: 'no' }],
    [
      'reasoning as bare text',
      { text: 'x', reasoning: 'hm' },
      {
        content: 'x',
        reasoning: 'hm',
        reasoning_details: [{ type: 'reasoning.text', text: 'hm', format: 'unknown', index: 0 }],
      },
    ],
    [
      'reasoning with the details of upstream',
      { text: 'x', reasoning: 'hm', reasoningDetails: [detail] },
      { content: 'x', reasoning: 'hm', reasoning_details: [detail] },
    ],
    [
      'annotations, images, audio',
      {
        annotations: [
          { type: 'url_citation', url: 'u', title: 't', content: 'c', startIndex: 0, endIndex: 1 },
        ],
        images: ['data:,i'],
        audio: { id: 'a' },
      },
      {
        content: null,
        annotations: [
          {
            type: 'url_citation',
            url_citation: { url: 'u', title: 't', content: 'c', start_index: 0, end_index: 1 },
          },
        ],
        images: [{ type: 'image_url', image_url: { url: 'data:,i' } }],
        audio: { id: 'a' },
      },
    ],
  ]
  test.each(rows)('%s', (_name, choice, message) => {
    expect(writeChatReply(resultOf(choice), REPLY, CLOSING)).toMatchObject({
      choices: [{ message: { role: 'assistant', refusal: null, ...message } }],
    })
  })
})

test('hidden reasoning is in no event, under any name', () => {
  const natives = [{ choices: [{ index: 0, message: { thinking: 'secret', mood: 'm' } }] }]
  const choice = { text: 'x', reasoning: 'secret', reasoningDetails: [{ type: 'a', text: 'secret' }] }
  const reply = writeChatReply(resultOf(choice, natives), { ...REPLY, hideReasoning: true }, CLOSING)
  expect(reply).toMatchObject({ choices: [{ message: { content: 'x', mood: 'm' } }] })
  expect(JSON.stringify(reply)).not.toMatch(/secret|thinking|reasoning_details/)
})

test('unknown fields of a unary reply keep their places and never replace known ones', () => {
  const native = {
    chunk: { system_fingerprint: 'fp', warmth: { a: [1] }, id: 'theirs', model: 'theirs' },
    choices: [{ index: 0, choice: { filter: 'ok', index: 9 }, message: { mood: 'm', role: 'theirs' } }],
  }
  expect(writeChatReply(resultOf({ text: 'x' }, [native]), REPLY, CLOSING)).toMatchObject({
    id: 'gen-1',
    model: 'acme/large',
    system_fingerprint: 'fp',
    warmth: { a: [1] },
    choices: [{ index: 0, filter: 'ok', message: { role: 'assistant', content: 'x', mood: 'm' } }],
  })
})

test('a collected stream keeps fields of chunks and choices, not fragments of deltas', () => {
  const natives = [
    { chunk: { a: 1 }, choices: [{ index: 0, message: { piece: 'x' } }] },
    { chunk: { a: 2 }, choices: [{ index: 0, choice: { filter: 'ok' }, message: { piece: 'y' } }] },
  ]
  const reply = writeChatReply(resultOf({ text: 'x' }, natives), REPLY, CLOSING)
  expect(reply).toMatchObject({ a: 2, choices: [{ filter: 'ok' }] })
  expect(JSON.stringify(reply)).not.toContain('piece')
})

test('all buckets of usage, inclusive outward; the metadata under both names', () => {
  const usage = {
    inputTokens: 1,
    cacheReadTokens: 2,
    cacheWriteTokens: 4,
    audioInputTokens: 8,
    imageInputTokens: 16,
    outputTokens: 32,
    reasoningTokens: 64,
    audioOutputTokens: 128,
    imageOutputTokens: 256,
    acceptedPredictionTokens: 0,
    rejectedPredictionTokens: 5,
    webSearchRequests: 2,
  }
  const serviceMetadata = {
    requested: 'acme/large',
    strategy: 'direct',
    summary: 's',
    attempt: 1,
    is_byok: true,
    region: null,
    endpoints: { total: 1, available: [] },
    attempts: [],
  }
  const closing = { ...CLOSING, usage, isByok: true, serviceTier: 'flex', serviceMetadata }
  expect(writeChatReply(resultOf({ text: 'x' }), REPLY, closing)).toMatchObject({
    service_tier: 'flex',
    service_metadata: serviceMetadata,
    openrouter_metadata: serviceMetadata,
    usage: {
      prompt_tokens: 31,
      completion_tokens: 480,
      total_tokens: 511,
      prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 4, audio_tokens: 8, image_tokens: 16 },
      completion_tokens_details: {
        reasoning_tokens: 64,
        audio_tokens: 128,
        image_tokens: 256,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 5,
      },
      is_byok: true,
      cost_details: { upstream_inference_cost: 12.345678901 },
      server_tool_use_details: { web_search_requests: 2 },
    },
  })
})
