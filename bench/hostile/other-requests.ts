import { API, fields, LARGEST, list, long, MEGABYTE, nested, type Scale, type Shape } from './shape.ts'

const operation = (name: string, path: string, body: (scale: Scale) => string): Shape => ({
  name: `${path.slice(1)}: ${name}`,
  path: API + path,
  body: (scale) => `{"model":"chat-plain",${body(scale)}}`,
})

const operations: readonly Shape[] = [
  operation('a million texts', '/embeddings', (scale) => `"input":${list(scale, 1_000_000, () => '"hi"')}`),
  operation('five million tokens', '/embeddings', (scale) => `"input":${list(scale, 5_000_000, () => '12')}`),
  operation(
    'a million lists of tokens',
    '/embeddings',
    (scale) => `"input":${list(scale, 1_000_000, () => '[1,2]')}`,
  ),
  operation(
    '200,000 items of parts',
    '/embeddings',
    (scale) => `"input":${list(scale, 200_000, () => '{"content":[{"type":"text","text":"hi"}]}')}`,
  ),
  operation('a text of 20 MB', '/embeddings', (scale) => `"input":"${long(scale, 'word ')}"`),
  operation(
    'texts and at last a wrong one',
    '/embeddings',
    (scale) => `"input":${list(scale, 1_000_000, () => '"hi"').slice(0, -1)},1]`,
  ),
  operation(
    'a million documents',
    '/rerank',
    (scale) => `"query":"hi","documents":${list(scale, 1_000_000, () => '"hi"')}`,
  ),
  operation(
    '400,000 documents with texts',
    '/rerank',
    (scale) => `"query":"hi","documents":${list(scale, 400_000, () => '{"text":"hi"}')}`,
  ),
  operation(
    'ten giant documents',
    '/rerank',
    (scale) => `"query":"hi","documents":${list(1, 10, () => `"${long(scale, 'word ', 1.9 * MEGABYTE)}"`)}`,
  ),
  operation('a giant query', '/rerank', (scale) => `"query":"${long(scale, 'word ')}","documents":["hi"]`),
  operation('a giant prompt', '/images', (scale) => `"prompt":"${long(scale, 'word ')}"`),
  operation(
    '100,000 references',
    '/images',
    (scale) =>
      `"prompt":"hi","input_references":${list(scale, 100_000, () => '{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}')}`,
  ),
  operation(
    'a data URL of blanks',
    '/images',
    (scale) =>
      `"prompt":"hi","input_references":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo${long(scale, ' ')}!"}}]`,
  ),
  operation('a giant input', '/audio/speech', (scale) => `"voice":"a","input":"${long(scale, 'word ')}"`),
  operation(
    'a million unknown fields',
    '/audio/speech',
    (scale) => `"voice":"a","input":"hi",${fields(scale, 1_000_000)}`,
  ),
]

function form(scale: Scale, count: number, name: (index: number) => string, value = 'x'): FormData {
  const made = new FormData()
  made.append('model', 'chat-plain')
  made.append('file', new File([new Uint8Array(1000)], 'a.wav'))
  for (let index = 0; index < count * scale; index++) made.append(name(index), value)
  return made
}

const forms: readonly Shape[] = [
  {
    name: 'audio/transcriptions: 100,000 fields',
    path: `${API}/audio/transcriptions`,
    body: (scale) => form(scale, 100_000, (index) => `f${index}`),
  },
  {
    name: 'audio/transcriptions: one list of 100,000',
    path: `${API}/audio/transcriptions`,
    body: (scale) => form(scale, 100_000, () => 'include[]'),
  },
  {
    name: 'audio/transcriptions: a recording of 20 MB',
    path: `${API}/audio/transcriptions`,
    body: (scale) => {
      const made = form(scale, 0, String)
      made.set('file', new File([new Uint8Array(LARGEST * scale)], 'a.wav'))
      return made
    },
  },
  {
    name: 'audio/transcriptions: no boundary found',
    path: `${API}/audio/transcriptions`,
    headers: { 'content-type': 'multipart/form-data; boundary=aaaaaaaaaaab' },
    body: (scale) => long(scale, 'a'),
  },
  ...['--b', '\r\n--b--', '\r\n--b\r\n\r\n', 'x--b'].map((piece) => ({
    name: `audio/transcriptions: ${JSON.stringify(piece)}, for 20 MB`,
    path: `${API}/audio/transcriptions`,
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    body: (scale: Scale) => `--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n${long(scale, piece)}`,
  })),
  {
    name: 'audio/transcriptions: headers of one part without end',
    path: `${API}/audio/transcriptions`,
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    body: (scale) => `--b\r\n${long(scale, 'x-a: b\r\n')}`,
  },
  {
    name: 'audio/transcriptions: a name of 20 MB',
    path: `${API}/audio/transcriptions`,
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    body: (scale) =>
      `--b\r\ncontent-disposition: form-data; name="file"; filename="${long(scale, 'a.')}"\r\n\r\nx\r\n--b--\r\n`,
  },
  {
    name: 'images/edits: 10,000 images',
    path: `${API}/images/edits`,
    body: (scale) => {
      const made = form(scale, 0, String)
      made.delete('file')
      for (let index = 0; index < 10_000 * scale; index++)
        made.append('image[]', new File([new Uint8Array(1000)], 'a.png', { type: 'image/png' }))
      return made
    },
  },
  {
    name: 'files: a file of 20 MB',
    path: `${API}/files`,
    body: (scale) => {
      const made = new FormData()
      made.append('file', new File([long(scale, 'text ')], 'a.txt', { type: 'text/plain' }))
      return made
    },
  },
]

const HI = '{"model":"chat-plain","messages":[{"role":"user","content":"hi"}]}'
/** A request head may have 16 kB. */
const HEADER_BYTES = 12_000

const headers: readonly Shape[] = [
  ['content-type', `application/json${' '.repeat(HEADER_BYTES)}x`],
  ['content-type', `application/${'a+'.repeat(HEADER_BYTES / 2)}`],
  ['content-type', `multipart/form-data;${' boundary'.repeat(HEADER_BYTES / 9)}`],
  ['cookie', '='.repeat(HEADER_BYTES)],
  ['cookie', 'a=b; '.repeat(HEADER_BYTES / 5)],
  ['cookie', `a=${' '.repeat(HEADER_BYTES)}b`],
  ['x-title', `a${' '.repeat(HEADER_BYTES)}a`],
  ['http-referer', `https://${'a.'.repeat(HEADER_BYTES / 2)}`],
  ['user-agent', '('.repeat(HEADER_BYTES)],
  ['x-forwarded-for', '1.1.1.1,'.repeat(HEADER_BYTES / 8)],
  ['anthropic-beta', ','.repeat(HEADER_BYTES)],
  ['x-session-id', ' a'.repeat(HEADER_BYTES / 2)],
  ['traceparent', '-'.repeat(HEADER_BYTES)],
  ['idempotency-key', ' '.repeat(HEADER_BYTES)],
  ['authorization', `Bearer ${' '.repeat(HEADER_BYTES)}a`],
  ['x-api-key', 'a'.repeat(HEADER_BYTES)],
].map(([name = '', value = ''], index) => ({
  name: `header ${index + 1}, ${name}: ${value.slice(0, 12)}…`,
  path: `${API}/chat/completions`,
  headers: { [name]: value },
  body: () => HI,
}))

const paths: readonly Shape[] = [
  ['many slashes', `${API}/models${'/'.repeat(HEADER_BYTES)}`],
  ['many dots', `${API}/models/${'../a/'.repeat(HEADER_BYTES / 5)}`],
  ['many escapes', `${API}/models/${'%2e'.repeat(HEADER_BYTES / 3)}`],
  ['many parameters', `${API}/models?${'a=b&'.repeat(HEADER_BYTES / 4)}`],
  ['many categories', `${API}/models?supported_parameters=${'tools,'.repeat(HEADER_BYTES / 6)}`],
  ['long query', `${API}/models?q=${'a%20'.repeat(HEADER_BYTES / 4)}`],
  ['long generation', `${API}/generation?id=${'a'.repeat(HEADER_BYTES)}`],
  ['long key', `${API}/keys/${'a'.repeat(HEADER_BYTES)}`],
].map(([name = '', path = '']) => ({
  name: `address: ${name}`,
  path,
  method: 'GET',
  isAdmin: true,
  body: () => undefined,
}))

/** Patterns of guardrails that an engine with backtracking, or an automaton without bounds, does not survive. */
const PATTERNS = [
  '(a+)+$',
  '(?:(?:(?:x{100}){100}){100}){100}',
  '(?:a?){500}a{500}',
  '((((((((((a*)*)*)*)*)*)*)*)*)*)*b',
  String.raw`(?i)\b(foo|bar)\b.{0,100}\bbaz\b`,
  String.raw`(?:\w{1,50}\s){1,50}end`,
  '.*'.repeat(100),
  Array.from({ length: 2_000 }, (_, index) => `word${index}`).join('|'),
  '\\p{L}{1,1000}',
  '['.repeat(5_000),
  '('.repeat(5_000),
]
const guardrails: readonly Shape[] = [
  ...PATTERNS.flatMap((pattern) =>
    ['flag', 'block'].map((action) => ({
      name: `guardrail, ${action}: ${pattern.slice(0, 36)}`,
      path: `${API}/guardrails`,
      isAdmin: true,
      body: () => JSON.stringify({ name: 'hostile', content_filters: [{ pattern, action }] }),
    })),
  ),
  {
    name: 'guardrail: 1 MB of patterns',
    path: `${API}/guardrails`,
    isAdmin: true,
    body: (scale) =>
      `{"name":"hostile","content_filters":${list(scale, 20_000, (index) => `{"pattern":"a{1,90}${index}","action":"flag"}`)}}`,
  },
  {
    name: 'guardrail: 1 MB of names',
    path: `${API}/guardrails`,
    isAdmin: true,
    body: (scale) => `{"name":"hostile","allowed_models":${list(scale, 100_000, (index) => `"a/${index}"`)}}`,
  },
  {
    name: 'key: 1 MB of unknown fields',
    path: `${API}/keys`,
    isAdmin: true,
    body: (scale) => `{"name":"a",${fields(scale, 80_000)}}`,
  },
  {
    name: 'key: 1 MB of depth',
    path: `${API}/keys`,
    isAdmin: true,
    body: (scale) => `{"name":${nested(990_000 * scale, '[', '')}}`,
  },
]

export const otherRequests: readonly Shape[] = [...operations, ...forms, ...headers, ...paths, ...guardrails]
