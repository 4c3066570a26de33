import { list, long, nested } from '../shape.ts'
import { COUNT, data, LONG_PARTS, logprob, many, manyFields, once, PART, type Stream } from './stream.ts'

const chatChunk = (delta: string, finish = 'null', more = ''): string =>
  `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":${delta},"finish_reason":${finish}${more}}]}`
const CHAT_END = [
  chatChunk('{}', '"stop"'),
  '{"id":"c","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}',
  '[DONE]',
]
const chatCall = (index: number): string =>
  `{"index":${index},"id":"call_${index}","type":"function","function":{"name":"look","arguments":"{}"}}`
const chatBody = (message: string, more = ''): string =>
  `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":${message},"finish_reason":"stop"${more}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`

export const chat: Stream = {
  plain: chatBody('{"role":"assistant","content":"hi"}'),
  wrap: data,
  shapes: {
    'stream-texts': many([], 2 * COUNT, () => chatChunk('{"content":" hi"}'), CHAT_END),
    'stream-calls': many([], COUNT, (index) => chatChunk(`{"tool_calls":[${chatCall(index)}]}`), CHAT_END),
    'stream-calls-at-once': once(
      [],
      (scale) => chatChunk(`{"tool_calls":${list(scale, COUNT, chatCall)}}`),
      CHAT_END,
    ),
    'stream-calls-without-index': many(
      [],
      COUNT,
      (index) =>
        chatChunk(`{"tool_calls":[{"id":"call_${index}","function":{"name":"look","arguments":"{}"}}]}`),
      CHAT_END,
    ),
    'stream-arguments': many(
      [chatChunk(`{"tool_calls":[${chatCall(0)}]}`)],
      2 * COUNT,
      () => chatChunk('{"tool_calls":[{"index":0,"function":{"arguments":" "}}]}'),
      CHAT_END,
    ),
    'stream-logprobs': many(
      [],
      COUNT,
      () => chatChunk('{"content":"a"}', 'null', `,"logprobs":{"content":[${logprob}]}`),
      CHAT_END,
    ),
    'stream-logprobs-at-once': once(
      [],
      (scale) =>
        chatChunk('{"content":"a"}', 'null', `,"logprobs":{"content":${list(scale, COUNT, () => logprob)}}`),
      CHAT_END,
    ),
    'stream-reasoning': many([], COUNT, () => chatChunk('{"reasoning":" so"}'), CHAT_END),
    'stream-reasoning-details': many(
      [],
      COUNT,
      (index) =>
        chatChunk(
          `{"reasoning_details":[{"type":"reasoning.text","text":"so","index":${index},"signature":"abcd"}]}`,
        ),
      CHAT_END,
    ),
    'stream-annotations': many(
      [],
      COUNT,
      () =>
        chatChunk(
          '{"content":"a","annotations":[{"type":"url_citation","url_citation":{"url":"https://a.example","title":"a","start_index":0,"end_index":1}}]}',
        ),
      CHAT_END,
    ),
    'stream-citations': once(
      [],
      (scale) =>
        `{"citations":${list(scale, COUNT, (index) => `"https://a.example/${index}"`)},${chatChunk('{"content":"a[1]"}').slice(1)}`,
      CHAT_END,
    ),
    'stream-images': many(
      [],
      COUNT / 2,
      () =>
        chatChunk(
          '{"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}',
        ),
      CHAT_END,
    ),
    'stream-choices': many(
      [],
      COUNT,
      (index) => `{"id":"c","choices":[{"index":${index},"delta":{"content":"a"},"finish_reason":null}]}`,
      CHAT_END,
    ),
    'stream-unknown-fields': once([], (scale) => chatChunk(`{"content":"a",${manyFields(scale)}}`), CHAT_END),
    'stream-deep': once(
      [],
      (scale) => chatChunk(`{"content":"a","x":${nested(COUNT * scale, '[', ']')}}`),
      CHAT_END,
    ),
    'stream-long-text': once([], (scale) => chatChunk(`{"content":"${long(scale, 'word ')}"}`), CHAT_END),
    'stream-long-arguments': once(
      [],
      (scale) =>
        chatChunk(
          `{"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":"${long(scale, '[')}"}}]}`,
        ),
      CHAT_END,
    ),
    'stream-text-parts': many([], LONG_PARTS, () => chatChunk(`{"content":"${PART}"}`), CHAT_END),
    'stream-reasoning-parts': many(
      [],
      LONG_PARTS,
      () => chatChunk(`{"reasoning_content":"${PART}"}`),
      CHAT_END,
    ),
    'stream-arguments-parts': many(
      [
        chatChunk(
          '{"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":"{\\"a\\":\\""}}]}',
        ),
      ],
      LONG_PARTS,
      () => chatChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"${PART}"}}]}`),
      CHAT_END,
    ),
    'stream-usages': many(
      [],
      COUNT,
      () => '{"id":"c","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}',
      CHAT_END,
    ),
    'stream-think-tags': many([], COUNT, () => chatChunk('{"content":"<think>a</think>"}'), CHAT_END),
    'stream-think-opening': many([], COUNT, () => chatChunk('{"content":"<thin"}'), CHAT_END),
  },
  bodies: {
    'body-calls': (scale) =>
      chatBody(`{"role":"assistant","content":null,"tool_calls":${list(scale, COUNT, chatCall)}}`),
    'body-long': (scale) => chatBody(`{"role":"assistant","content":"${long(scale, 'word ')}"}`),
    'body-logprobs': (scale) =>
      chatBody(
        '{"role":"assistant","content":"a"}',
        `,"logprobs":{"content":${list(scale, COUNT, () => logprob)}}`,
      ),
    'body-choices': (scale) =>
      `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":${list(scale, COUNT, (index) => `{"index":${index},"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}`)},"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
  },
}
