import type { JsonObject } from '../../src/core/events.ts'
import { testReplies } from './replies.ts'
import { call, type Entries, list, named, one, sse, token, unknown } from './reply-lists.ts'
import { range } from './samples.ts'

const citation = { type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A' } }
const detail = (i: number) => ({ type: 'reasoning.text', text: 'x', index: i, format: 'unknown' })

/** Lists of a chat message, complete or as the delta of one chunk. */
const CHAT_MESSAGES: Readonly<Record<string, (n: number) => JsonObject>> = {
  tool_calls: (n) => ({ tool_calls: range(n, call) }),
  'tool_calls with an index': (n) => ({ tool_calls: range(n, (index) => ({ index, ...call(index) })) }),
  reasoning_details: (n) => ({ reasoning_details: range(n, detail) }),
  'reasoning_details of one text': (n) => ({ reasoning_details: range(n, () => detail(0)) }),
  annotations: (n) => ({ content: 'Hi', annotations: range(n, () => citation) }),
  images: (n) => ({ images: range(n, () => ({ image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } })) }),
  content: (n) => ({ content: range(n, () => ({ type: 'text', text: 'x' })) }),
  'content of unknown types': (n) => ({ content: range(n, (i) => ({ type: 'new', i })) }),
  'unknown fields': (n) => ({ content: 'Hi', ...unknown(n) }),
}
const chatWhole = (message: JsonObject, more: JsonObject = {}, choice: JsonObject = {}) =>
  JSON.stringify({
    id: 'a',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop', ...choice }],
    ...more,
  })
const chatChunk = (delta: JsonObject, choice: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  id: 'a',
  choices: [{ index: 0, delta, ...choice }],
  ...more,
})
const CHAT_END = chatChunk({}, { finish_reason: 'stop' })
const CHAT_CHUNKS: Entries = {
  text: (n) => range(n, (i) => chatChunk({ content: `x${i}` })),
  'text and reasoning': (n) => range(n, (i) => chatChunk(i % 2 ? { content: 'x' } : { reasoning: 'y' })),
  refusals: (n) => range(n, () => chatChunk({ refusal: 'x' })),
  calls: (n) => range(n, (index) => chatChunk({ tool_calls: [{ index, ...call(index) }] })),
  'calls without an index': (n) => range(n, (i) => chatChunk({ tool_calls: [call(i)] })),
  'calls that begin before their arguments': (n) => [
    chatChunk({ tool_calls: range(n, (index) => ({ index, id: `c${index}`, function: { name: 'a' } })) }),
    ...range(n, (index) => chatChunk({ tool_calls: [{ index, function: { arguments: '{"a":1}' } }] })),
  ],
  'pieces of arguments': (n) => [
    chatChunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'a', arguments: '{"a":"' } }] }),
    ...range(n, () => chatChunk({ tool_calls: [{ index: 0, function: { arguments: '}' } }] })),
  ],
  'pieces of a call without index and id': (n) =>
    range(n, () => chatChunk({ tool_calls: [{ function: { name: 'a', arguments: '{' } }] })),
  'text within a call': (n) => [
    chatChunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'a', arguments: '{"a":{}' } }] }),
    ...range(n, () => chatChunk({ content: 'x' })),
  ],
  logprobs: (n) => range(n, () => chatChunk({ content: 'x' }, { logprobs: { content: [token] } })),
  'logprobs of a chunk': (n) => [
    chatChunk({ content: 'x' }, { logprobs: { content: range(n, () => token) } }),
  ],
  'reasoning details': (n) => range(n, () => chatChunk({ reasoning: 'x', reasoning_details: [detail(0)] })),
  'reasoning repeated in turn': (n) =>
    range(n, (i) => chatChunk(i % 2 ? { reasoning: 'xy' } : { reasoning_details: [detail(0)] })),
  annotations: (n) => range(n, () => chatChunk({ content: 'x', annotations: [citation] })),
  sound: (n) => range(n, () => chatChunk({ audio: { id: 'a', data: 'aaaa', transcript: 'x' } })),
  'choices of one index': (n) => [
    { id: 'a', choices: range(n, (i) => ({ index: 0, delta: { content: 'x', [`u${i}`]: i } })) },
  ],
  'unknown fields': (n) => range(n, (i) => chatChunk({ content: 'x' }, {}, { [`u${i}`]: i })),
  'unknown fields of the delta': (n) => range(n, (i) => chatChunk({ content: 'x', [`u${i}`]: null })),
  citations: (n) => [
    chatChunk({ content: 'x' }, {}, { citations: range(n, (i) => `https://a.example/${i}`) }),
  ],
  'citations again': (n) =>
    range(n, (i) => chatChunk({ content: 'x' }, {}, { citations: [`https://a.example/${i}`] })),
  usage: (n) =>
    range(n, (i) => chatChunk({ content: 'x' }, {}, { usage: { prompt_tokens: 1, completion_tokens: i } })),
}

testReplies('chat', [
  ...named(CHAT_MESSAGES).map(([name, of]) =>
    list('chat', false, ([body]) => chatWhole(body ?? {}))([name, one(of)]),
  ),
  list('chat', false, ([body]) => chatWhole({ content: 'x' }, {}, { logprobs: body }))([
    'logprobs',
    (n) => [{ content: range(n, () => token), refusal: range(n, () => token) }],
  ]),
  list('chat', false, ([body]) => chatWhole({ content: 'x' }, body))([
    'unknown fields of the reply',
    one(unknown),
  ]),
  list('chat', false, ([body]) => chatWhole({ content: 'x' }, body))([
    'search_results',
    (n) => [{ search_results: range(n, (i) => ({ url: `https://a.example/${i}`, title: 'A' })) }],
  ]),
  ...named(CHAT_MESSAGES).map(([name, of]) =>
    list('chat', true, ([delta]) => sse([chatChunk(delta ?? {}), CHAT_END]))([`${name} of a chunk`, one(of)]),
  ),
  ...named(CHAT_CHUNKS).map(list('chat', true, (events) => sse([...events, CHAT_END]))),
])
