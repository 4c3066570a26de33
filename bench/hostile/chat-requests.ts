import { schemas } from './schemas.ts'
import { API, fields, LARGEST, list, long, nested, type Scale, type Shape } from './shape.ts'

/** A body of chat with these further fields, before a provider that speaks `to`. */
const chat = (
  name: string,
  to: string,
  rest: (scale: Scale) => string,
  path = `${API}/chat/completions`,
): Shape => ({
  name: `chat → ${to}: ${name}`,
  path,
  body: (scale) => `{"model":"${to}-plain",${rest(scale)}}`,
})

const HI = '"messages":[{"role":"user","content":"hi"}]'
const user = (content: string): string => `"messages":[{"role":"user","content":${content}}]`
const parts = (scale: Scale, count: number, part: string): string => user(list(scale, count, () => part))
const call = (index: number): string =>
  `{"id":"call_${index}","type":"function","function":{"name":"look","arguments":"{}"}}`

/** Each before every dialect of providers. */
const everywhere: Readonly<Record<string, (scale: Scale) => string>> = {
  ...Object.fromEntries(
    Object.entries(schemas).flatMap(([name, schema]) => [
      [
        `response_format, ${name}`,
        (scale: Scale) =>
          `${HI},"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":${schema(scale)}}}`,
      ],
      [
        `tool, ${name}`,
        (scale: Scale) =>
          `${HI},"tools":[{"type":"function","function":{"name":"x","parameters":${schema(scale)}}}]`,
      ],
    ]),
  ),
  '100,000 messages': (scale) =>
    `"messages":${list(scale, 100_000, (index) => `{"role":"${index % 2 ? 'assistant' : 'user'}","content":"hi"}`)}`,
  '100,000 messages of one role': (scale) =>
    `"messages":${list(scale, 100_000, () => '{"role":"user","content":"hi"}')}`,
  '100,000 system messages': (scale) =>
    `"messages":${list(scale, 100_000, () => '{"role":"system","content":"hi"}').slice(0, -1)},{"role":"user","content":"hi"}]`,
  '100,000 tool calls in one message, then their results': (scale) => {
    const results = list(
      scale,
      100_000,
      (index) => `{"role":"tool","tool_call_id":"call_${index}","content":"ok"}`,
    ).slice(1, -1)
    return `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":${list(scale, 100_000, call)}},${results}]`
  },
  '50,000 turns of one call': (scale) =>
    `"messages":${list(scale, 50_000, (index) => `{"role":"assistant","content":null,"tool_calls":[${call(index)}]},{"role":"tool","tool_call_id":"call_${index}","content":"ok"}`)}`,
  '200,000 texts in one message': (scale) => parts(scale, 200_000, '{"type":"text","text":"hi"}'),
  '100,000 images in one message': (scale) =>
    parts(scale, 100_000, '{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}'),
  '100,000 marks of caches': (scale) =>
    parts(scale, 100_000, '{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}'),
  '100,000 tools': (scale) =>
    `${HI},"tools":${list(scale, 100_000, (index) => `{"type":"function","function":{"name":"t${index}","parameters":{"type":"object"}}}`)}`,
  'a million unknown fields': (scale) => `${HI},${fields(scale, 1_000_000)}`,
  'a text of 20 MB': (scale) => user(`"${long(scale, 'word ')}"`),
  'a text of blanks': (scale) => user(`"${long(scale, ' ')}"`),
  'a text of escapes': (scale) => user(`"${long(scale, '\\u0000')}"`),
  'a data URL of blanks': (scale) =>
    parts(
      1 / 1,
      1,
      `{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo${long(scale, ' ')}!"}}`,
    ),
  'a data URL of parameters': (scale) =>
    parts(1, 1, `{"type":"image_url","image_url":{"url":"data:image/png${long(scale, ';a=b')}!"}}`),
  'a file of 20 MB': (scale) =>
    parts(
      1,
      1,
      `{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,${long(scale, 'JVBERi0x')}"}}`,
    ),
  'a sound of 20 MB': (scale) =>
    parts(1, 1, `{"type":"input_audio","input_audio":{"format":"wav","data":"${long(scale, 'UklGRiQA')}"}}`),
}

/** Each before one provider: they end, or should, before a provider's dialect matters. */
const once: Readonly<Record<string, (scale: Scale) => string>> = {
  'a million unknown fields in a message': (scale) =>
    `"messages":[{"role":"user","content":"hi",${fields(scale, 1_000_000)}}]`,
  'a million unknown fields in a part': (scale) =>
    parts(1, 1, `{"type":"text","text":"hi",${fields(scale, 1_000_000)}}`),
  'a million metadata': (scale) => `${HI},"metadata":{${fields(scale, 1_000_000, '"1"')}}`,
  'a million of logit_bias': (scale) => `${HI},"logit_bias":{${fields(scale, 1_000_000)}}`,
  'ten million nulls': (scale) => `${HI},"x":${list(scale, 3_900_000, () => 'null')}`,
  'six million empty lists': (scale) => `${HI},"x":${list(scale, 6_000_000, () => '[]')}`,
  'six million empty objects': (scale) => `${HI},"x":${list(scale, 6_000_000, () => '{}')}`,
  'two million numbers': (scale) => `${HI},"x":${list(scale, 2_000_000, (index) => `1.5e${index % 300}`)}`,
  'a number of 20 MB': (scale) => `${HI},"x":${long(scale, '9')}`,
  'blanks between': (scale) => `${HI},"x":${long(scale, ' ')}1`,
  'wide and deep': (scale) => `${HI},"x":${list(scale, 150_000, () => nested(60, '[', ']'))}`,
  'deeper than 64': (scale) => `${HI},"x":${long(scale, '[')}`,
  'objects deeper than 64': (scale) => `${HI},"x":${long(scale, '{"a":')}`,
  backslashes: (scale) => user(`"${long(scale, '\\\\')}"`),
  'an open string of backslashes': (scale) => user(`"${long(scale, '\\')}`),
  'one field, a million times': (scale) => `${HI},${list(scale, 1_000_000, () => '"x":1').slice(1, -1)}`,
  'index keys, far apart': (scale) =>
    `${HI},"x":{${list(scale, 500_000, (index) => `"${index * 7919}":1`).slice(1, -1)}}`,
  'a million models': (scale) => `${HI},"models":${list(scale, 1_000_000, () => '"a/b"')}`,
  'a million stops': (scale) => `${HI},"stop":${list(scale, 1_000_000, () => '"a"')}`,
  'a million providers to order': (scale) =>
    `${HI},"provider":{"order":${list(scale, 1_000_000, (index) => `"p${index}"`)}}`,
  'a million plugins': (scale) => `${HI},"plugins":${list(scale, 400_000, () => '{"id":"web"}')}`,
  'a million of modalities': (scale) => `${HI},"modalities":${list(scale, 1_000_000, () => '"text"')}`,
  'a million of transforms': (scale) => `${HI},"transforms":${list(scale, 1_000_000, () => '"a"')}`,
  'wrong type, a million times': (scale) => `"messages":${list(scale, 1_000_000, () => '1')}`,
  'wrong parts, a million times': (scale) => parts(scale, 1_000_000, '1'),
  ...Object.fromEntries(
    [
      'user',
      'session_id',
      'model',
      'tool_choice',
      'response_format',
      'reasoning_effort',
      'stop',
      'service_tier',
      'route',
      'preset',
      'x',
    ].map((field) => [`long ${field}`, (scale: Scale) => `${HI},"${field}":"${long(scale, 'a ')}"`]),
  ),
  ...Object.fromEntries(
    ['role', 'name', 'tool_call_id', 'reasoning', 'refusal'].map((field) => [
      `long ${field} of a message`,
      (scale: Scale) => `"messages":[{"role":"user","content":"hi","${field}":"${long(scale, ' a')}"}]`,
    ]),
  ),
  'a long URL of an image': (scale) =>
    parts(1, 1, `{"type":"image_url","image_url":{"url":"https://example.com/${long(scale, '%41/')}"}}`),
  'a long host': (scale) =>
    parts(1, 1, `{"type":"image_url","image_url":{"url":"https://${long(scale, 'a.')}com/"}}`),
  'many slashes': (scale) =>
    parts(1, 1, `{"type":"image_url","image_url":{"url":"https:${long(scale, '/')}"}}`),
  'a long filename': (scale) =>
    parts(
      1,
      1,
      `{"type":"file","file":{"filename":"${long(scale, 'a.')}","file_data":"data:application/pdf;base64,JVBERi0x"}}`,
    ),
  'a file of text': (scale) =>
    parts(
      1,
      1,
      `{"type":"file","file":{"filename":"a.txt","file_data":"data:text/plain;base64,${long(scale, 'aGVsbG8g')}"}}`,
    ),
}

export const PROVIDER_DIALECTS = ['chat', 'responses', 'messages', 'gemini', 'converse', 'cohere'] as const

export const chatRequests: readonly Shape[] = [
  ...Object.entries(everywhere).flatMap(([name, rest]) =>
    PROVIDER_DIALECTS.map((to) => chat(name, to, rest)),
  ),
  ...Object.entries(once).map(([name, rest]) => chat(name, 'chat', rest)),
  ...[1_000, 30_000, 1_000_000, 5_000_000, LARGEST].map((bytes) =>
    chat(`${bytes / 1000} kB of unknown fields`, 'chat', (scale) => `${HI},${fields(scale, bytes / 12)}`),
  ),
]
