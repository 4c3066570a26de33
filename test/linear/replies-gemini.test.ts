import type { JsonObject } from '../../src/core/events.ts'
import { testReplies } from './replies.ts'
import { type Entries, list, named, one, sse, unknown } from './reply-lists.ts'
import { range } from './samples.ts'

const part = (fields: (i: number) => JsonObject) => (n: number) => range(n, fields)
const PARTS: Entries = {
  text: part(() => ({ text: 'x' })),
  thoughts: part(() => ({ text: 'x', thought: true })),
  calls: part(() => ({ functionCall: { name: 'look', args: {} } })),
  'signed calls': part((i) => ({ functionCall: { name: 'look', args: {} }, thoughtSignature: `s${i}` })),
  images: part(() => ({ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } })),
  sound: part(() => ({ inlineData: { mimeType: 'audio/L16;rate=24000', data: 'aaaa' } })),
  signatures: part((i) => ({ text: '', thoughtSignature: `s${i}` })),
}
const candidate = (parts: JsonObject[], more: JsonObject = {}) => ({
  responseId: 'r',
  candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP', ...more }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 },
})
const chunks = (n: number) => range(n, (i) => ({ web: { uri: `https://a.example/${i}`, title: 'A' } }))
const supports = (n: number) =>
  range(n, (i) => ({ segment: { startIndex: i, endIndex: i + 1, text: 'é' }, groundingChunkIndices: [i] }))
const GROUNDED: Readonly<Record<string, (n: number) => JsonObject>> = {
  groundingChunks: (n) => ({ groundingMetadata: { groundingChunks: chunks(n) } }),
  groundingSupports: (n) => ({
    groundingMetadata: { groundingChunks: chunks(n), groundingSupports: supports(n) },
  }),
  citations: (n) => ({
    citationMetadata: {
      citations: range(n, (i) => ({ uri: `https://a.example/${i}`, startIndex: i, endIndex: i + 1 })),
    },
  }),
  logprobs: (n) => ({
    logprobsResult: {
      chosenCandidates: range(n, () => ({ token: 'a', logProbability: -1 })),
      topCandidates: [],
    },
  }),
  'unknown fields': unknown,
}

testReplies('gemini', [
  ...named(PARTS).map(list('gemini', false, (parts) => JSON.stringify(candidate(parts)))),
  ...named(PARTS).map(list('gemini', true, (parts) => sse(parts.map((each) => candidate([each]))))),
  ...named(GROUNDED).map(([name, of]) =>
    list('gemini', false, ([more]) => JSON.stringify(candidate([{ text: 'é'.repeat(5_000) }], more)))([
      name,
      one(of),
    ]),
  ),
  list('gemini', true, (events) => sse(events))([
    'groundingSupports between texts',
    (n) => range(n, (i) => candidate([{ text: 'é' }], GROUNDED['citations']?.(i % 2))),
  ]),
])
