import { COUNT, data, many, type Stream } from './stream.ts'

export const cohere: Stream = {
  plain:
    '{"id":"c","message":{"role":"assistant","content":[{"type":"text","text":"hi"}]},"finish_reason":"COMPLETE","usage":{"tokens":{"input_tokens":1,"output_tokens":1}}}',
  wrap: data,
  shapes: {
    'stream-calls': many(
      ['{"type":"message-start","id":"c","delta":{"message":{"role":"assistant"}}}'],
      COUNT,
      (index) =>
        `{"type":"tool-call-start","index":${index},"delta":{"message":{"tool_calls":{"id":"t${index}","type":"function","function":{"name":"look","arguments":"{}"}}}}}\n\ndata: {"type":"tool-call-end","index":${index}}`,
      [
        '{"type":"message-end","delta":{"finish_reason":"TOOL_CALL","usage":{"tokens":{"input_tokens":1,"output_tokens":1}}}}',
      ],
    ),
    'stream-citations': many(
      [
        '{"type":"message-start","id":"c","delta":{"message":{"role":"assistant"}}}',
        '{"type":"content-start","index":0,"delta":{"message":{"content":{"type":"text","text":"hi"}}}}',
      ],
      COUNT,
      (index) =>
        `{"type":"citation-start","index":${index},"delta":{"message":{"citations":{"start":0,"end":2,"text":"hi","sources":[{"type":"document","id":"d","document":{"id":"d"}}]}}}}`,
      [
        '{"type":"message-end","delta":{"finish_reason":"COMPLETE","usage":{"tokens":{"input_tokens":1,"output_tokens":1}}}}',
      ],
    ),
  },
}
