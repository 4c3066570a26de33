import type { JsonObject } from '../../src/core/events.ts'
import { testReplies } from './replies.ts'
import { type Entries, list, named, sse } from './reply-lists.ts'
import { range } from './samples.ts'

/** Blocks of Messages, unary and streamed. */
const BLOCKS: Entries = {
  text: (n) => range(n, () => ({ type: 'text', text: 'x' })),
  thinking: (n) => range(n, () => ({ type: 'thinking', thinking: 'x', signature: 's' })),
  redacted_thinking: (n) => range(n, () => ({ type: 'redacted_thinking', data: 'x' })),
  tool_use: (n) => range(n, (i) => ({ type: 'tool_use', id: `t${i}`, name: 'look', input: { a: 1 } })),
  server_tool_use: (n) =>
    range(n, (i) => ({ type: 'server_tool_use', id: `t${i}`, name: 'web_search', input: {} })),
  web_search_tool_result: (n) =>
    range(n, (i) => ({ type: 'web_search_tool_result', tool_use_id: `t${i}`, content: [] })),
  'text and tool_use': (n) =>
    range(n, (i) =>
      i % 2 ? { type: 'text', text: 'x' } : { type: 'tool_use', id: `t${i}`, name: 'look', input: {} },
    ),
}
const web = { type: 'web_search_result_location', url: 'https://a.example', title: 'A', cited_text: 'x' }
const DELTAS: Readonly<Record<string, { block: JsonObject; delta: JsonObject }>> = {
  text_delta: { block: { type: 'text', text: '' }, delta: { type: 'text_delta', text: 'x' } },
  thinking_delta: {
    block: { type: 'thinking', thinking: '' },
    delta: { type: 'thinking_delta', thinking: 'x' },
  },
  citations_delta: { block: { type: 'text', text: '' }, delta: { type: 'citations_delta', citation: web } },
  input_json_delta: {
    block: { type: 'tool_use', id: 't', name: 'look', input: {} },
    delta: { type: 'input_json_delta', partial_json: ' ' },
  },
}
const START = {
  type: 'message_start',
  message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 1 } },
}
const STOP = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
]
const streamedBlock = (content_block: JsonObject, index: number): JsonObject[] => [
  { type: 'content_block_start', index, content_block },
  { type: 'content_block_stop', index },
]

testReplies('messages', [
  ...named(BLOCKS).map(
    list('messages', false, (content) =>
      JSON.stringify({
        type: 'message',
        id: 'm',
        role: 'assistant',
        content,
        stop_reason: 'end_turn',
        usage: {},
      }),
    ),
  ),
  ...named(BLOCKS).map(
    list('messages', true, (blocks) => sse([START, ...blocks.flatMap(streamedBlock), ...STOP])),
  ),
  ...named(DELTAS).map(([name, { block, delta }]) =>
    list('messages', true, (deltas) => sse([START, ...deltas, ...STOP]))([
      name,
      (n) => [
        { type: 'content_block_start', index: 0, content_block: block },
        ...range(n, () => ({ type: 'content_block_delta', index: 0, delta })),
        { type: 'content_block_stop', index: 0 },
      ],
    ]),
  ),
  list('messages', true, (events) => sse([START, ...events, ...STOP]))([
    'message_delta',
    (n) => range(n, (i) => ({ type: 'message_delta', delta: { [`u${i}`]: i }, usage: { output_tokens: i } })),
  ]),
])
