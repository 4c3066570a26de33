import { encodeMessage } from '../event-stream.ts'
import { COUNT, many, type Stream } from './stream.ts'

const CONVERSE_END = [
  '{"messageStop":{"stopReason":"tool_use"}}',
  '{"metadata":{"usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2}}}',
]
export const converse: Stream = {
  plain:
    '{"output":{"message":{"role":"assistant","content":[{"text":"hi"}]}},"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2}}',
  wrap(payload) {
    const [, name = '', inside = '{}'] = /^\{"(\w+)":(.*)\}$/s.exec(payload) ?? []
    return encodeMessage(name, inside)
  },
  shapes: {
    'stream-calls': many(
      ['{"messageStart":{"role":"assistant"}}'],
      COUNT,
      (index) =>
        `{"contentBlockStart":{"contentBlockIndex":${index},"start":{"toolUse":{"toolUseId":"t${index}","name":"look"}}}}`,
      CONVERSE_END,
    ),
    'stream-texts': many(
      ['{"messageStart":{"role":"assistant"}}'],
      2 * COUNT,
      () => '{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":" hi"}}}',
      CONVERSE_END,
    ),
  },
}
