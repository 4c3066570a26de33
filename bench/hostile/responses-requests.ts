import { PROVIDER_DIALECTS } from './chat-requests.ts'
import { API, fields, list, long, type Scale, type Shape } from './shape.ts'

const COUNT = 100_000
const text = '{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}'
const call = (index: number): string =>
  `{"type":"function_call","call_id":"c${index}","name":"look","arguments":"{}"}`
const output = (index: number): string =>
  `{"type":"function_call_output","call_id":"c${index}","output":"ok"}`
const reasoning = (index: number): string =>
  `{"type":"reasoning","id":"rs_${index}","summary":[{"type":"summary_text","text":"so"}]}`

/** Items of `input`, one kind at a time and in the orders that readers group. */
const items: Readonly<Record<string, (index: number) => string>> = {
  messages: () => '{"role":"user","content":"hi"}',
  'assistant texts': () => text,
  reasoning,
  'sealed reasoning': (index) =>
    `{"type":"reasoning","id":"rs_${index}","summary":[],"encrypted_content":"abcd"}`,
  calls: call,
  outputs: output,
  'calls and outputs in turn': (index) => `${call(index)},${output(index)}`,
  'text after a call': (index) => `${call(index)},${text}`,
  'reasoning after a call': (index) => `${reasoning(index)},${call(index)}`,
  'web searches': (index) =>
    `{"type":"web_search_call","id":"ws_${index}","status":"completed","action":{"type":"search","query":"a"}}`,
  'file searches': (index) =>
    `{"type":"file_search_call","id":"fs_${index}","status":"completed","queries":["a"]}`,
  'images made': (index) =>
    `{"type":"image_generation_call","id":"ig_${index}","status":"completed","result":"iVBORw0KGgo="}`,
  'own calls': (index) => `{"type":"custom_tool_call","call_id":"c${index}","name":"x","input":"y"}`,
  'own outputs': (index) => `{"type":"custom_tool_call_output","call_id":"c${index}","output":"y"}`,
  references: (index) => `{"type":"item_reference","id":"msg_${index}"}`,
  'unknown items': (index) => `{"type":"something_else","id":"x${index}"}`,
}

const shape = (name: string, to: string, rest: (scale: Scale) => string): Shape => ({
  name: `responses → ${to}: ${name}`,
  path: `${API}/responses`,
  body: (scale) => `{"model":"${to}-plain",${rest(scale)}}`,
})

const once: Readonly<Record<string, (scale: Scale) => string>> = {
  'all calls, then all outputs': (scale) =>
    `"input":${list(scale, COUNT, call).slice(0, -1)},${list(scale, COUNT, output).slice(1)}`,
  'all outputs in reverse': (scale) =>
    `"input":${list(scale, COUNT, call).slice(0, -1)},${list(scale, COUNT, (index) => output(COUNT * scale - 1 - index)).slice(1)}`,
  '200,000 parts of one message': (scale) =>
    `"input":[{"role":"user","content":${list(scale, 200_000, () => '{"type":"input_text","text":"hi"}')}}]`,
  'a text of 20 MB': (scale) => `"input":"${long(scale, 'word ')}"`,
  'instructions of 20 MB': (scale) => `"input":"hi","instructions":"${long(scale, 'word ')}"`,
  '100,000 tools': (scale) =>
    `"input":"hi","tools":${list(scale, COUNT, (index) => `{"type":"function","name":"t${index}","parameters":{"type":"object"}}`)}`,
  'a million unknown fields': (scale) => `"input":"hi",${fields(scale, 1_000_000)}`,
  '100,000 summaries of one thought': (scale) =>
    `"input":[{"type":"reasoning","id":"rs_1","summary":${list(scale, COUNT, () => '{"type":"summary_text","text":"so"}')}}]`,
  '100,000 annotations': (scale) =>
    `"input":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi","annotations":${list(scale, COUNT, () => '{"type":"url_citation","url":"https://a.example","title":"a","start_index":0,"end_index":1}')}}]}]`,
  'a stored conversation of 100,000 items': (scale) =>
    `"store":true,"input":${list(scale, COUNT, () => text)}`,
  'in the background, 100,000 items': (scale) =>
    `"store":true,"background":true,"input":${list(scale, COUNT, reasoning)}`,
}

export const responsesRequests: readonly Shape[] = [
  ...Object.entries(items).flatMap(([name, item]) =>
    PROVIDER_DIALECTS.map((to) =>
      shape(`100,000 ${name}`, to, (scale) => `"input":${list(scale, COUNT, item)}`),
    ),
  ),
  ...Object.entries(once).flatMap(([name, rest]) => [
    shape(name, 'chat', rest),
    shape(name, 'responses', rest),
  ]),
]
