import { afterAll, describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { startGateway } from '../gateway.ts'

/**
 * What a request that is not a conversation needs of its endpoint. A row names the model that is known not to have it, and one
 * that has it: with both in `models` the second is called; with the first alone none is, and the error says why.
 */

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const IMAGE = `data:image/png;base64,${PNG}`
const pricing = { prompt: '0.000001', completion: '0.000002', request: '0.001', image: '0.01' }
const called: string[] = []
const upstream = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url)
    const isForm = request.headers.get('content-type')?.startsWith('multipart')
    called.push(
      String(isForm ? (await request.formData()).get('model') : objectOf(await request.json())['model']),
    )
    if (pathname.endsWith('/embeddings')) return Response.json({ data: [{ embedding: [1] }], usage: {} })
    if (pathname.endsWith('/rerank')) return Response.json({ results: [{ index: 0, relevance_score: 1 }] })
    if (pathname.endsWith('/speech')) return new Response('a', { headers: { 'content-type': 'audio/mpeg' } })
    if (pathname.endsWith('/moderations')) return Response.json({ results: [{ flagged: false }] })
    if (pathname.endsWith('/input_tokens')) return Response.json({ input_tokens: 5 })
    if (pathname.endsWith('/compact')) return Response.json({ id: 'r', output: [{ type: 'compaction' }] })
    return Response.json({ data: [{ b64_json: PNG }], text: 'a' })
  },
})

const takes = (...kinds: string[]) => ({ architecture: { input_modalities: kinds } })
const entry = (slug: string, models: object[], more: object = {}) => ({
  slug,
  name: slug.toUpperCase(),
  base_url: `http://127.0.0.1:${upstream.port}/${slug}/v1`,
  models: models.map((model) => ({ pricing, ...model })),
  ...more,
})
const gateway = await startGateway({
  providers: [
    entry('lab', [
      { id: 'text-embedding-3-small' },
      { id: 'text-embedding-3-large' },
      { id: 'text-embedding-ada-002' },
      { id: 'short-texts', context_length: 100 },
      { id: 'long-texts', context_length: 10_000 },
      { id: 'ranks-text', ...takes('text') },
      { id: 'ranks-images', ...takes('text', 'image') },
      { id: 'judges-text', ...takes('text') },
      { id: 'judges-images', ...takes('text', 'image') },
      { id: 'one-voice' },
      { id: 'many-voices' },
      { id: 'gpt-4o-transcribe' },
      { id: 'whisper-1' },
      { id: 'dall-e-3' },
      { id: 'gpt-image-1' },
      { id: 'gpt-image-1.5' },
      { id: 'gpt-image-2' },
      { id: 'voyage-4-lite' },
      { id: 'voyage-law-2' },
    ]),
    entry(
      'talk',
      [
        { id: 'short-memory', context_length: 100 },
        { id: 'long-memory', context_length: 100_000 },
        { id: 'blind', ...takes('text') },
        { id: 'sees', ...takes('text', 'image') },
      ],
      { dialect: 'responses' },
    ),
  ],
  models: [
    { id: 'one-voice', supported_voices: ['Alloy'] },
    { id: 'many-voices', supported_voices: ['alloy', 'cedar'] },
  ],
  credentials: [{ provider: 'openai', baseUrl: `http://127.0.0.1:${upstream.port}/v1`, secret: 'sk-openai' }],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})

const audio = (bytes: number, format = 'wav') => ({
  input_audio: { data: Buffer.alloc(bytes).toString('base64'), format },
})
const seen = [{ role: 'user', content: [{ type: 'input_image', image_url: IMAGE }] }]
type Row = [path: string, body: object, unable: string, able: string, status: number, sentence: string]
const rows: Row[] = [
  [
    '/embeddings',
    { input: 'a', dimensions: 2_000 },
    'text-embedding-3-small',
    'text-embedding-3-large',
    400,
    'vectors of at most 1536 numbers',
  ],
  [
    '/embeddings',
    { input: 'a', dimensions: 256 },
    'text-embedding-ada-002',
    'text-embedding-3-small',
    400,
    'takes no "dimensions"',
  ],
  [
    '/rerank',
    { query: 'q', documents: [{ image: IMAGE }] },
    'ranks-text',
    'ranks-images',
    404,
    'and not for images',
  ],
  [
    '/moderations',
    { input: [{ type: 'image_url', image_url: { url: IMAGE } }] },
    'judges-text',
    'judges-images',
    404,
    'and not for images',
  ],
  [
    '/audio/speech',
    { input: 'a', voice: 'cedar' },
    'one-voice',
    'many-voices',
    404,
    'speaks with the voice "cedar"',
  ],
  [
    '/audio/transcriptions',
    { ...audio(9), response_format: 'verbose_json' },
    'gpt-4o-transcribe',
    'whisper-1',
    400,
    'plain JSON alone',
  ],
  [
    '/embeddings',
    { input: 'a', dimensions: 512 },
    'voyage-law-2',
    'voyage-4-lite',
    400,
    'vectors of 1024 numbers',
  ],
  ['/images', { prompt: 'a', size: '1536x864' }, 'gpt-image-1.5', 'gpt-image-2', 400, '"size" is 1536x864'],
  ['/images', { prompt: 'a', size: '1792x1024' }, 'gpt-image-1.5', 'dall-e-3', 400, '"size" is 1792x1024'],
  ['/images', { prompt: 'a', n: 2 }, 'dall-e-3', 'gpt-image-1', 400, 'at most 1 image at a time'],
  ['/images', { prompt: 'a', size: '1792x1024' }, 'gpt-image-1', 'dall-e-3', 400, '"size" is 1792x1024'],
  [
    '/images/edits',
    { prompt: 'a', images: [{ image_url: IMAGE }] },
    'dall-e-3',
    'gpt-image-2',
    400,
    'from words alone',
  ],
  [
    '/responses/compact',
    { input: 'many words '.repeat(900) },
    'short-memory',
    'long-memory',
    400,
    'The prompt is too long',
  ],
  ['/responses/compact', { input: seen }, 'blind', 'sees', 404, 'and not for images'],
]

describe.each(rows)('POST %s with %j', (path, body, unable, able, status, sentence) => {
  test(`is served by ${able}, and not by ${unable}`, async () => {
    called.length = 0
    const reply = await gateway.call(path, { ...body, models: [unable, able], model: unable })
    expect([reply.status, called]).toEqual([200, [able]])
    await reply.bytes()
  })

  test('names what the model lacks if there is no other', async () => {
    called.length = 0
    const reply = await gateway.call(path, { ...body, model: unable })
    const { error } = objectOf(await reply.json())
    expect([reply.status, called, objectOf(error)['message']]).toEqual([
      status,
      [],
      expect.stringContaining(sentence),
    ])
  })
})

test('a text that is too long for a vector goes to the model that fits, and else to the one there is', async () => {
  const body = { input: 'many words '.repeat(900) }
  for (const [models, expected] of [
    [['short-texts', 'long-texts'], 'long-texts'],
    [['short-texts'], 'short-texts'],
  ] as const) {
    called.length = 0
    expect((await gateway.call('/embeddings', { ...body, models })).status).toBe(200)
    expect(called).toEqual([expected])
  }
})

test.each([
  ['more bytes than the provider takes', audio(25_000_001), 'at most 25 MB, and this one has 25.0 MB'],
  ['a format that it does not take', audio(9, 'aiff'), 'and not as aiff'],
])('a recording with %s is not sent to it', async (_, body, sentence) => {
  called.length = 0
  const form = new FormData()
  const { data, format } = body.input_audio
  form.append('file', new File([Buffer.from(data, 'base64')], `a.${format}`))
  form.append('model', 'openai/gpt-4o-mini-transcribe')
  const reply = await gateway.call('/audio/transcriptions', form)
  const { error } = objectOf(await reply.json())
  expect([reply.status, called, objectOf(error)['message']]).toEqual([
    400,
    [],
    expect.stringContaining(sentence),
  ])
})

test.each([
  ['3840x2160', 200],
  ['2160x3840', 200],
  ['2K', 200],
  ['auto', 200],
  ['1000x1000', 400],
  ['3200x1024', 400],
  ['3840x2176', 400],
  ['4096x2048', 400],
])('gpt-image-2 makes %s: %d', async (size, status) => {
  const reply = await gateway.call('/images', { prompt: 'a', size, model: 'gpt-image-2' })
  expect([reply.status, (await reply.text()).includes('multiples of 16')]).toEqual([status, status === 400])
})

test('tokens are counted for a prompt of any length, and not at an endpoint that sees no images', async () => {
  const count = async (model: string, content: unknown): Promise<number> => {
    const body = { model, max_tokens: 9, messages: [{ role: 'user', content }] }
    return (await gateway.call('/messages/count_tokens', body)).status
  }
  const source = { type: 'base64', media_type: 'image/png', data: PNG }
  expect(await count('short-memory', 'many words '.repeat(900))).toBe(200)
  expect([
    await count('blind', [{ type: 'image', source }]),
    await count('sees', [{ type: 'image', source }]),
  ]).toEqual([404, 200])
})
