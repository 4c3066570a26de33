import { list } from '../shape.ts'
import { COUNT, data, many, once, type Stream } from './stream.ts'

const candidate = (parts: string, finish = ''): string =>
  `{"candidates":[{"index":0,"content":{"role":"model","parts":${parts}}${finish}}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`
const GEMINI_END = [candidate('[{"text":""}]', ',"finishReason":"STOP"')]

export const gemini: Stream = {
  plain: candidate('[{"text":"hi"}]', ',"finishReason":"STOP"'),
  wrap: data,
  shapes: {
    'stream-calls': many(
      [],
      COUNT,
      (index) => candidate(`[{"functionCall":{"id":"f${index}","name":"look","args":{}}}]`),
      GEMINI_END,
    ),
    'stream-calls-at-once': once(
      [],
      (scale) => candidate(list(scale, COUNT, () => '{"functionCall":{"name":"look","args":{}}}')),
      GEMINI_END,
    ),
    'stream-partial-arguments': many(
      [candidate('[{"functionCall":{"id":"f","name":"look","willContinue":true}}]')],
      COUNT,
      (index) =>
        candidate(
          `[{"functionCall":{"partialArgs":[{"jsonPath":"$.a[${index}]","stringValue":"x"}],"willContinue":true}}]`,
        ),
      GEMINI_END,
    ),
    'stream-texts': many([], COUNT, () => candidate('[{"text":" hi"}]'), GEMINI_END),
    'stream-thoughts': many(
      [],
      COUNT,
      () => candidate('[{"text":" so","thought":true,"thoughtSignature":"abcd"}]'),
      GEMINI_END,
    ),
    'stream-grounding': once(
      [candidate('[{"text":"hi"}]')],
      (scale) =>
        `{"candidates":[{"index":0,"finishReason":"STOP","groundingMetadata":{"groundingChunks":${list(scale, COUNT / 2, (index) => `{"web":{"uri":"https://a.example/${index}","title":"a"}}`)},"groundingSupports":${list(scale, COUNT / 2, (index) => `{"segment":{"startIndex":0,"endIndex":2,"text":"hi"},"groundingChunkIndices":[${index}]}`)}}}]}`,
      [],
    ),
  },
  bodies: {
    'body-calls': (scale) =>
      candidate(
        list(scale, COUNT, () => '{"functionCall":{"name":"look","args":{}}}'),
        ',"finishReason":"STOP"',
      ),
  },
}
