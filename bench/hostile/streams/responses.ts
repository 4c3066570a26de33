import { list } from '../shape.ts'
import { COUNT, data, logprob, many, once, type Stream } from './stream.ts'

const response = (status: string, output: string): string =>
  `{"id":"r","object":"response","created_at":1,"status":"${status}","model":"m","output":${output},"error":null,"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}`
const functionCall = (index: number): string =>
  `{"type":"function_call","id":"fc_${index}","call_id":"c${index}","name":"look","arguments":"{}","status":"completed"}`
const reasoningItem = (index: number): string =>
  `{"type":"reasoning","id":"rs_${index}","summary":[{"type":"summary_text","text":"so"}],"encrypted_content":"abcd"}`
const textItem = (index: number): string =>
  `{"type":"message","id":"msg_${index}","role":"assistant","status":"completed","content":[{"type":"output_text","text":"hi","annotations":[]}]}`
const searchItem = (index: number): string =>
  `{"type":"web_search_call","id":"ws_${index}","status":"completed","action":{"type":"search","query":"a"}}`
const RESPONSE_START = `{"type":"response.created","response":${response('in_progress', '[]')}}`
const RESPONSE_END = [`{"type":"response.completed","response":${response('completed', '[]')}}`]
const itemsOf = (item: (index: number) => string) =>
  many(
    [RESPONSE_START],
    COUNT,
    (index) =>
      `{"type":"response.output_item.added","output_index":${index},"item":${item(index)}}\n\ndata: {"type":"response.output_item.done","output_index":${index},"item":${item(index)}}`,
    RESPONSE_END,
  )

export const responses: Stream = {
  plain: response('completed', `[${textItem(0)}]`),
  wrap: data,
  shapes: {
    'stream-calls': itemsOf(functionCall),
    'stream-reasoning': itemsOf(reasoningItem),
    'stream-texts': itemsOf(textItem),
    'stream-searches': itemsOf(searchItem),
    'stream-deltas': many(
      [RESPONSE_START],
      2 * COUNT,
      () =>
        '{"type":"response.output_text.delta","item_id":"msg_0","output_index":0,"content_index":0,"delta":" hi"}',
      RESPONSE_END,
    ),
    'stream-logprobs': many(
      [RESPONSE_START],
      COUNT,
      () =>
        `{"type":"response.output_text.delta","item_id":"msg_0","output_index":0,"content_index":0,"delta":" hi","logprobs":[${logprob}]}`,
      RESPONSE_END,
    ),
    'stream-annotations': many(
      [RESPONSE_START],
      COUNT,
      (index) =>
        `{"type":"response.output_text.annotation.added","item_id":"msg_0","output_index":0,"content_index":0,"annotation_index":${index},"annotation":{"type":"url_citation","url":"https://a.example","title":"a","start_index":0,"end_index":1}}`,
      RESPONSE_END,
    ),
    'stream-unknown-events': many(
      [RESPONSE_START],
      COUNT,
      () => '{"type":"response.something.else","output_index":0}',
      RESPONSE_END,
    ),
    'stream-large-end': once(
      [RESPONSE_START],
      (scale) =>
        `{"type":"response.completed","response":${response('completed', list(scale, COUNT, functionCall))}}`,
      [],
    ),
  },
  bodies: {
    'body-calls': (scale) => response('completed', list(scale, COUNT, functionCall)),
    'body-texts': (scale) => response('completed', list(scale, COUNT, textItem)),
  },
}
