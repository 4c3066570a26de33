import type { JsonObject } from '../../src/core/events.ts'
import { testReplies } from './replies.ts'
import { type Entries, list, named, sse, token } from './reply-lists.ts'
import { range } from './samples.ts'

/** Items of Responses, unary and streamed. */
const ITEMS: Entries = {
  message: (n) =>
    range(n, (i) => ({
      type: 'message',
      id: `m${i}`,
      role: 'assistant',
      content: [{ type: 'output_text', text: 'x' }],
    })),
  'parts of a message': (n) => [
    {
      type: 'message',
      id: 'm',
      role: 'assistant',
      content: range(n, () => ({ type: 'output_text', text: 'x' })),
    },
  ],
  annotations: (n) => [
    {
      type: 'message',
      id: 'm',
      role: 'assistant',
      content: [
        {
          type: 'output_text',
          text: 'x',
          annotations: range(n, (i) => ({ type: 'url_citation', url: `https://a.example/${i}`, title: 'A' })),
          logprobs: range(n, () => token),
        },
      ],
    },
  ],
  reasoning: (n) =>
    range(n, (i) => ({ type: 'reasoning', id: `r${i}`, summary: [{ type: 'summary_text', text: 'x' }] })),
  summary: (n) => [
    { type: 'reasoning', id: 'r', summary: range(n, () => ({ type: 'summary_text', text: 'x' })) },
  ],
  'content of reasoning': (n) => [
    {
      type: 'reasoning',
      id: 'r',
      summary: [],
      content: range(n, () => ({ type: 'reasoning_text', text: 'x' })),
    },
  ],
  function_call: (n) =>
    range(n, (i) => ({
      type: 'function_call',
      id: `f${i}`,
      call_id: `c${i}`,
      name: 'look',
      arguments: '{}',
    })),
  web_search_call: (n) => range(n, (i) => ({ type: 'web_search_call', id: `w${i}`, status: 'completed' })),
  'of one id': (n) => range(n, () => ({ type: 'web_search_call', id: 'same' })),
}
const response = (output: JsonObject[]) => ({
  id: 'r',
  object: 'response',
  status: 'completed',
  output,
  usage: { input_tokens: 1, output_tokens: 1 },
})
const done = (output: JsonObject[] = []) => ({ type: 'response.completed', response: response(output) })
const added = (item: JsonObject, output_index: number) => ({
  type: 'response.output_item.added',
  output_index,
  item,
})
const ended = (item: JsonObject, output_index: number) => ({
  type: 'response.output_item.done',
  output_index,
  item,
})
const RESPONSE_EVENTS: Entries = {
  'text deltas': (n) =>
    range(n, (i) => ({
      type: 'response.output_text.delta',
      output_index: 0,
      content_index: 0,
      delta: `x${i}`,
    })),
  'text deltas with logprobs': (n) =>
    range(n, () => ({
      type: 'response.output_text.delta',
      output_index: 0,
      content_index: 0,
      delta: 'x',
      logprobs: [token],
    })),
  'reasoning deltas': (n) =>
    range(n, () => ({
      type: 'response.reasoning_text.delta',
      output_index: 0,
      content_index: 0,
      delta: 'x',
    })),
  'calls that begin before their arguments': (n) => [
    ...range(n, (i) =>
      added({ type: 'function_call', id: `f${i}`, call_id: `c${i}`, name: 'look', arguments: '' }, i),
    ),
    ...range(n, (i) => ({ type: 'response.function_call_arguments.delta', output_index: i, delta: '{}' })),
  ],
  'pieces of arguments': (n) => [
    added({ type: 'function_call', id: 'f', call_id: 'c', name: 'look', arguments: '' }, 0),
    ...range(n, () => ({ type: 'response.function_call_arguments.delta', output_index: 0, delta: ' ' })),
  ],
}

testReplies('responses', [
  ...named(ITEMS).map(list('responses', false, (output) => JSON.stringify(response(output)))),
  ...named(ITEMS).map(
    list('responses', true, (items) =>
      sse([...items.flatMap((item, i) => [added(item, i), ended(item, i)]), done()]),
    ),
  ),
  ...named(ITEMS).map(([name, of]) =>
    list('responses', true, (items) => sse([done(items)]))([`${name}, at the end alone`, of]),
  ),
  ...named(RESPONSE_EVENTS).map(list('responses', true, (events) => sse([...events, done()]))),
])
