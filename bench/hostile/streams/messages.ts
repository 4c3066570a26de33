import { list } from '../shape.ts'
import { COUNT, data, many, type Stream } from './stream.ts'

const block = (index: number, content: string, delta: string): string =>
  `{"type":"content_block_start","index":${index},"content_block":${content}}\n\ndata: {"type":"content_block_delta","index":${index},"delta":${delta}}\n\ndata: {"type":"content_block_stop","index":${index}}`
const MESSAGE_START =
  '{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}'
const MESSAGE_END = [
  '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}',
  '{"type":"message_stop"}',
]
const wholeMessage = (content: string): string =>
  `{"id":"m","type":"message","role":"assistant","model":"m","content":${content},"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`
const blocksOf = (content: (index: number) => string, delta: string) =>
  many([MESSAGE_START], COUNT / 2, (index) => block(index, content(index), delta), MESSAGE_END)

export const messages: Stream = {
  plain: wholeMessage('[{"type":"text","text":"hi"}]'),
  wrap: data,
  shapes: {
    'stream-calls': blocksOf(
      (index) => `{"type":"tool_use","id":"toolu_${index}","name":"look","input":{}}`,
      '{"type":"input_json_delta","partial_json":"{}"}',
    ),
    'stream-texts': blocksOf(() => '{"type":"text","text":""}', '{"type":"text_delta","text":"hi"}'),
    'stream-thoughts': blocksOf(
      () => '{"type":"thinking","thinking":"","signature":""}',
      '{"type":"thinking_delta","thinking":"so"}',
    ),
    'stream-unknown-blocks': blocksOf(
      () => '{"type":"something_else"}',
      '{"type":"something_delta","x":"so"}',
    ),
    'stream-searches': blocksOf(
      (index) => `{"type":"server_tool_use","id":"srvtoolu_${index}","name":"web_search","input":{}}`,
      '{"type":"input_json_delta","partial_json":"{}"}',
    ),
    'stream-deltas': many(
      [MESSAGE_START, '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}'],
      2 * COUNT,
      () => '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" hi"}}',
      ['{"type":"content_block_stop","index":0}', ...MESSAGE_END],
    ),
    'stream-citations': many(
      [MESSAGE_START, '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}'],
      COUNT,
      () =>
        '{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","url":"https://a.example","title":"a","encrypted_index":"a","cited_text":"a"}}}',
      ['{"type":"content_block_stop","index":0}', ...MESSAGE_END],
    ),
    'stream-pings': many([MESSAGE_START], 2 * COUNT, () => '{"type":"ping"}', MESSAGE_END),
  },
  bodies: {
    'body-calls': (scale) =>
      wholeMessage(
        list(scale, COUNT, (index) => `{"type":"tool_use","id":"toolu_${index}","name":"look","input":{}}`),
      ),
    'body-texts': (scale) => wholeMessage(list(scale, 2 * COUNT, () => '{"type":"text","text":"hi"}')),
  },
}
