import type { JsonObject } from '../../src/core/events.ts'
import { testReplies } from './replies.ts'
import { call, type Entries, list, named, one, sse } from './reply-lists.ts'
import { range } from './samples.ts'

const cited = (i: number) => ({
  start: i,
  end: i + 1,
  text: 'é',
  type: 'TEXT_CONTENT',
  content_index: 0,
  sources: [{ type: 'document', id: `d${i}`, document: { title: 'A', url: 'https://a.example' } }],
})
const COHERE: Readonly<Record<string, (n: number) => JsonObject>> = {
  content: (n) => ({ content: range(n, () => ({ type: 'text', text: 'x' })) }),
  thinking: (n) => ({ content: range(n, () => ({ type: 'thinking', thinking: 'x' })) }),
  tool_calls: (n) => ({ tool_calls: range(n, call) }),
  citations: (n) => ({ content: [{ type: 'text', text: '😀é'.repeat(n) }], citations: range(n, cited) }),
}
const message = (fields: JsonObject, more: JsonObject) => ({ delta: { message: fields }, ...more })
const COHERE_EVENTS: Entries = {
  text: (n) => range(n, () => message({ content: { text: 'x' } }, { type: 'content-delta', index: 0 })),
  plans: (n) => range(n, () => message({ tool_plan: 'x' }, { type: 'tool-plan-delta' })),
  calls: (n) => range(n, (i) => message({ tool_calls: call(i) }, { type: 'tool-call-start', index: i })),
  citations: (n) =>
    range(n, (i) =>
      i % 2
        ? message({ content: { text: '😀é' } }, { type: 'content-delta', index: 0 })
        : message({ citations: cited(i) }, { type: 'citation-start', index: i }),
    ),
}

testReplies('cohere', [
  ...named(COHERE).map(([name, of]) =>
    list('cohere', false, ([body]) => JSON.stringify({ id: 'c', message: body, finish_reason: 'COMPLETE' }))([
      name,
      one(of),
    ]),
  ),
  ...named(COHERE_EVENTS).map(
    list('cohere', true, (events) =>
      sse([
        { type: 'message-start', id: 'c', delta: { message: { role: 'assistant' } } },
        ...events,
        { type: 'message-end', delta: { finish_reason: 'COMPLETE' } },
      ]),
    ),
  ),
])
