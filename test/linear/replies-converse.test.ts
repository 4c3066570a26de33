import type { JsonObject } from '../../src/core/events.ts'
import { streamOf } from '../dialects/converse/frames.ts'
import { testReplies } from './replies.ts'
import { type Entries, list, named } from './reply-lists.ts'
import { range } from './samples.ts'

const CONVERSE: Entries = {
  text: (n) => range(n, () => ({ text: 'x' })),
  calls: (n) => range(n, (i) => ({ toolUse: { toolUseId: `t${i}`, name: 'look', input: {} } })),
  thoughts: (n) => range(n, () => ({ reasoningContent: { reasoningText: { text: 'x', signature: 's' } } })),
  citations: (n) => [
    {
      citationsContent: {
        content: [{ text: 'x' }],
        citations: range(n, () => ({ title: 'A', location: { web: { url: 'https://a.example' } } })),
      },
    },
  ],
}
const converseEvents = (deltas: JsonObject[]) => [
  { messageStart: { role: 'assistant' } },
  ...deltas.map((delta, contentBlockIndex) => ({ contentBlockDelta: { contentBlockIndex, delta } })),
  { messageStop: { stopReason: 'end_turn' } },
  { metadata: { usage: { inputTokens: 1, outputTokens: 1 } } },
]

testReplies('converse', [
  ...named(CONVERSE).map(
    list('converse', false, (content) =>
      JSON.stringify({
        output: { message: { role: 'assistant', content } },
        stopReason: 'end_turn',
        usage: {},
      }),
    ),
  ),
  ...named({ text: CONVERSE['text'] ?? (() => []) }).map(
    list('converse', true, (deltas) => streamOf(converseEvents(deltas))),
  ),
])
