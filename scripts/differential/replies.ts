/** Hand-made answers of a provider of each dialect, for the generated cases. */

import type { DialectName, JsonObject } from '../../src/core/events.ts'
import { streamOf } from '../../test/dialects/converse/frames.ts'
import type { Reply } from './cases.ts'

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Reply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

export const events = (list: readonly unknown[], names = false): Reply => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body: list
    .map((event) => {
      const text = typeof event === 'string' ? event : JSON.stringify(event)
      const name =
        names && typeof event === 'object' && event !== null ? Reflect.get(event, 'type') : undefined
      return `${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`
    })
    .join(''),
})

const WORDS = ['Sunny', ' and', ' "warm"', ' — 24 °C', '\n', 'today.']
const chunk = (delta: object, finish: string | null = null) => ({
  id: 'up-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'upstream',
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const USAGE = {
  chat: { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 },
  responses: { input_tokens: 20, output_tokens: 7, total_tokens: 27 },
  messages: { input_tokens: 20, output_tokens: 7 },
}
const responseOf = (status: string, output: object[], usage: object | null) => ({
  id: 'resp_up',
  object: 'response',
  created_at: 1_700_000_000,
  status,
  model: 'upstream',
  output,
  usage,
})
const item = (text: string) => ({
  id: 'msg_up',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
})
const gemini = (text: string, finish?: string) => ({
  candidates: [
    { content: { role: 'model', parts: [{ text }] }, ...(finish ? { finishReason: finish } : {}) },
  ],
  usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 7, totalTokenCount: 27 },
  responseId: 'up-1',
  modelVersion: 'upstream',
})
const whole = WORDS.join('')

/** One event of the dialect's stream an element; a converse stream is binary and is one element. */
const STREAMS: Readonly<Record<DialectName, () => (JsonObject | string)[]>> = {
  chat: () => [
    chunk({ role: 'assistant', content: '' }),
    ...WORDS.map((content) => chunk({ content })),
    chunk({}, 'stop'),
    { ...chunk({}), choices: [], usage: USAGE.chat },
    '[DONE]',
  ],
  responses: () => [
    { type: 'response.created', response: responseOf('in_progress', [], null) },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...item(''), status: 'in_progress', content: [] },
    },
    {
      type: 'response.content_part.added',
      item_id: 'msg_up',
      output_index: 0,
      content_index: 0,
      part: { type: 'output_text', text: '', annotations: [] },
    },
    ...WORDS.map((delta) => ({
      type: 'response.output_text.delta',
      item_id: 'msg_up',
      output_index: 0,
      content_index: 0,
      delta,
    })),
    { type: 'response.output_text.done', item_id: 'msg_up', output_index: 0, content_index: 0, text: whole },
    { type: 'response.output_item.done', output_index: 0, item: item(whole) },
    { type: 'response.completed', response: responseOf('completed', [item(whole)], USAGE.responses) },
  ],
  messages: () => [
    {
      type: 'message_start',
      message: {
        id: 'msg_up',
        type: 'message',
        role: 'assistant',
        model: 'upstream',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 20, output_tokens: 1 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...WORDS.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: USAGE.messages },
    { type: 'message_stop' },
  ],
  gemini: () => [...WORDS.map((text) => gemini(text)), gemini('', 'STOP')],
  cohere: () => [
    { type: 'message-start', id: 'up-1', delta: { message: { role: 'assistant', content: [] } } },
    { type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } },
    ...WORDS.map((text) => ({ type: 'content-delta', index: 0, delta: { message: { content: { text } } } })),
    { type: 'content-end', index: 0 },
    {
      type: 'message-end',
      delta: { finish_reason: 'COMPLETE', usage: { tokens: { input_tokens: 20, output_tokens: 7 } } },
    },
  ],
  converse: () => [
    { messageStart: { role: 'assistant' } },
    ...WORDS.map((text) => ({ contentBlockDelta: { contentBlockIndex: 0, delta: { text } } })),
    { contentBlockStop: { contentBlockIndex: 0 } },
    { messageStop: { stopReason: 'end_turn' } },
    { metadata: { usage: { inputTokens: 20, outputTokens: 7, totalTokens: 27 }, metrics: { latencyMs: 1 } } },
  ],
}

const UNARY: Readonly<Record<DialectName, () => unknown>> = {
  chat: () => ({
    id: 'up-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'upstream',
    choices: [{ index: 0, message: { role: 'assistant', content: whole }, finish_reason: 'stop' }],
    usage: USAGE.chat,
  }),
  responses: () => responseOf('completed', [item(whole)], USAGE.responses),
  messages: () => ({
    id: 'msg_up',
    type: 'message',
    role: 'assistant',
    model: 'upstream',
    content: [{ type: 'text', text: whole }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: USAGE.messages,
  }),
  gemini: () => gemini(whole, 'STOP'),
  cohere: () => ({
    id: 'up-1',
    message: { role: 'assistant', content: [{ type: 'text', text: whole }] },
    finish_reason: 'COMPLETE',
    usage: { tokens: { input_tokens: 20, output_tokens: 7 } },
  }),
  converse: () => ({
    output: { message: { role: 'assistant', content: [{ text: whole }] } },
    stopReason: 'end_turn',
    usage: { inputTokens: 20, outputTokens: 7, totalTokens: 27 },
    metrics: { latencyMs: 1 },
  }),
}

export const SPOKEN: readonly DialectName[] = [
  'chat',
  'responses',
  'messages',
  'gemini',
  'converse',
  'cohere',
]

export const answer = (dialect: DialectName): Reply => json(UNARY[dialect]())

/** The first `count` events of a stream, all of them by default. */
export function stream(dialect: DialectName, count = Number.POSITIVE_INFINITY, isTruncated = false): Reply {
  const list = STREAMS[dialect]().slice(0, count)
  const broken = isTruncated ? { isTruncated } : {}
  if (dialect === 'converse') {
    return {
      status: 200,
      headers: { 'content-type': 'application/vnd.amazon.eventstream' },
      body: streamOf(list.filter((event) => typeof event !== 'string')),
      ...broken,
    }
  }
  return { ...events(list, dialect === 'responses' || dialect === 'messages'), ...broken }
}

export const eventCount = (dialect: DialectName): number => STREAMS[dialect]().length
