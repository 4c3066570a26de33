import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import OpenAI, { toFile } from 'openai'
import { API_KEY, type Gateway, startGateway } from '../gateway.ts'

/** POST /images and its paths for OpenAI's clients, with each kind of provider behind. */

/** One pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3, 4]).toString('base64')
const DATA_URL = `data:image/png;base64,${PNG}`

interface Seen {
  path: string
  body: Record<string, unknown>
  files: string[]
}

let gateway: Gateway
let client: OpenAI
let seen: Seen[] = []
let answers: (() => Response)[] = []

const upstream = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  error: () => new Response(null, { status: 500 }),
  async fetch(request) {
    const path = new URL(request.url).pathname
    if (path.endsWith('.png')) return new Response(Buffer.from(PNG, 'base64'))
    if (path.endsWith('.txt')) return new Response('no image')
    seen.push(await readSeen(path, request))
    return answers.shift()?.() ?? Response.json({ error: { message: 'nothing more' } }, { status: 500 })
  },
})

async function readSeen(path: string, request: Request): Promise<Seen> {
  if (!request.headers.get('content-type')?.startsWith('multipart/')) {
    return { path, body: await request.json(), files: [] }
  }
  const seenForm: Seen = { path, body: {}, files: [] }
  for (const [name, value] of (await request.formData()).entries()) {
    const entry: unknown = value
    if (entry instanceof File) seenForm.files.push(`${name} ${entry.type} ${entry.size}`)
    else seenForm.body[name] = value
  }
  return seenForm
}

const address = (path: string): string => `http://127.0.0.1:${upstream.port}${path}`
const paints = { architecture: { output_modalities: ['image'] } }
const speaks = { architecture: { output_modalities: ['image', 'text'] } }

beforeAll(async () => {
  gateway = await startGateway({
    listens: true,
    providers: [
      {
        slug: 'lab',
        name: 'Lab',
        base_url: address('/v1'),
        models: [
          { id: 'gpt-image-1', ...paints, pricing: { prompt: '0.000005', completion: '0.00004' } },
          { id: 'brush', ...paints, pricing: { image: '0.04' } },
          { id: 'grok-brush', ...paints, pricing: { image: '0.07' } },
          { id: 'talking', ...speaks, pricing: { prompt: '0.000001', completion: '0.00003' } },
          { id: 'words', architecture: { output_modalities: ['text'] }, pricing: { prompt: '0.000001' } },
        ],
      },
      {
        slug: 'goo',
        name: 'Goo',
        dialect: 'gemini',
        base_url: address('/v1beta'),
        models: [
          { id: 'gemini-brush', ...speaks, pricing: { prompt: '0.0000003', completion: '0.00003' } },
          { id: 'imagen-lab', ...paints, pricing: { image: '0.02' } },
        ],
      },
    ],
  })
  client = new OpenAI({ baseURL: `${gateway.url}/api/v1`, apiKey: API_KEY, maxRetries: 0 })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})
beforeEach(() => {
  seen = []
  answers = []
})

const made =
  (data: unknown[], more: object = {}) =>
  () =>
    Response.json({ created: 1, data, ...more })
const USAGE = {
  input_tokens: 20,
  output_tokens: 300,
  total_tokens: 320,
  input_tokens_details: { text_tokens: 12, image_tokens: 8 },
}
const events =
  (...list: object[]) =>
  () =>
    new Response(
      list
        .map((event) => `event: ${'type' in event ? event.type : ''}\ndata: ${JSON.stringify(event)}\n\n`)
        .join(''),
      { headers: { 'content-type': 'text/event-stream' } },
    )
const lastRow = () => gateway.generations().at(-1) ?? {}
const ask = (body: object) => gateway.call('/images', { prompt: 'a boat', ...body })

describe('the official client', () => {
  test('makes an image', async () => {
    answers = [made([{ b64_json: PNG, revised_prompt: 'a small boat' }], { usage: USAGE, size: '1024x1024' })]
    const reply = await client.images.generate({
      model: 'lab/gpt-image-1',
      prompt: 'a boat',
      size: '1024x1024',
      quality: 'high',
      user: 'u-1',
    })
    expect(reply.data).toEqual([
      expect.objectContaining({ b64_json: PNG, revised_prompt: 'a small boat', media_type: 'image/png' }),
    ])
    expect(reply).toMatchObject({ size: '1024x1024', usage: { input_tokens: 20, output_tokens: 300 } })
    expect(seen).toEqual([
      {
        path: '/v1/images/generations',
        body: { model: 'gpt-image-1', prompt: 'a boat', size: '1024x1024', quality: 'high', user: 'u-1' },
        files: [],
      },
    ])
    // 20 × 5,000 + 300 × 40,000 nano-dollars.
    expect(lastRow()).toMatchObject({
      api_type: 'image',
      cost_nano_usd: 12_100_000,
      usage_source: 'provider',
      finish_reason: 'stop',
      num_media_completion: 1,
      native_tokens_prompt_images: 8,
      native_tokens_completion_images: 300,
      external_user: 'u-1',
    })
  })

  test('edits images: they go on as files', async () => {
    answers = [made([{ b64_json: PNG }], { usage: USAGE })]
    const png = await toFile(Buffer.from(PNG, 'base64'), 'a.png', { type: 'image/png' })
    const reply = await client.images.edit({
      model: 'lab/gpt-image-1',
      prompt: 'redder',
      image: [png, png],
      n: 1,
    })
    expect(reply.data?.[0]?.b64_json).toBe(PNG)
    expect(seen[0]).toEqual({
      path: '/v1/images/edits',
      body: { model: 'gpt-image-1', prompt: 'redder', n: '1' },
      files: ['image[] image/png 70', 'image[] image/png 70'],
    })
  })

  test('a mask goes along, and the stream of an edit is named so', async () => {
    answers = [
      events(
        { type: 'image_edit.partial_image', b64_json: PNG, partial_image_index: 0 },
        { type: 'image_edit.completed', b64_json: PNG, usage: USAGE },
      ),
    ]
    const png = await toFile(Buffer.from(PNG, 'base64'), 'a.png', { type: 'image/png' })
    const stream = await client.images.edit({
      model: 'lab/gpt-image-1',
      prompt: 'redder',
      image: png,
      mask: png,
      stream: true,
      partial_images: 1,
    })
    const got: string[] = []
    for await (const { type } of stream) got.push(type)
    expect(got).toEqual(['image_edit.partial_image', 'image_edit.completed'])
    expect(seen[0]).toMatchObject({
      path: '/v1/images/edits',
      body: { stream: 'true', partial_images: '1' },
      files: ['image image/png 70', 'mask image/png 70'],
    })
  })

  test('streams: drafts as they come, the image once it is on the ledger', async () => {
    answers = [
      events(
        { type: 'image_generation.partial_image', b64_json: PNG, partial_image_index: 0 },
        { type: 'image_generation.completed', b64_json: PNG, usage: USAGE, quality: 'low' },
      ),
    ]
    const stream = await client.images.generate({
      model: 'lab/gpt-image-1',
      prompt: 'a boat',
      stream: true,
      partial_images: 1,
    })
    const got: unknown[] = []
    for await (const event of stream) got.push(event)
    expect(got).toMatchObject([
      { type: 'image_generation.partial_image', b64_json: PNG, partial_image_index: 0 },
      {
        type: 'image_generation.completed',
        b64_json: PNG,
        media_type: 'image/png',
        quality: 'low',
        usage: { total_tokens: 320, cost: 0.0121 },
      },
    ])
    expect(seen[0]?.body).toMatchObject({ stream: true, partial_images: 1 })
    expect(lastRow()).toMatchObject({ streamed: 1, cost_nano_usd: 12_100_000, num_media_completion: 1 })
  })

  test('streams an image of the usual size, which is one event of megabytes', async () => {
    const large = `${PNG.replace(/=+$/, '').slice(0, 40)}${'A'.repeat(3_000_000)}`
    answers = [
      events(
        { type: 'image_generation.partial_image', b64_json: large, partial_image_index: 0 },
        { type: 'image_generation.completed', b64_json: large, usage: USAGE },
      ),
    ]
    const stream = await client.images.generate({
      model: 'lab/gpt-image-1',
      prompt: 'a boat',
      stream: true,
      partial_images: 1,
    })
    const lengths: number[] = []
    for await (const event of stream) lengths.push(event.b64_json.length)
    expect(lengths).toEqual([large.length, large.length])
  })
})

describe('what is asked of each kind of provider', () => {
  const rows: [name: string, body: object, answer: () => Response, path: string, sent: object][] = [
    [
      'pixels from a shape and a resolution',
      { model: 'brush', aspect_ratio: '16:9', resolution: '2K', seed: 7, n: 2 },
      made([{ b64_json: PNG }, { b64_json: PNG }]),
      '/v1/images/generations',
      { model: 'brush', prompt: 'a boat', size: '2736x1536', seed: 7, n: 2 },
    ],
    [
      'the nearest size of three',
      { model: 'lab/gpt-image-1', aspect_ratio: '16:9', quality: 'max', seed: 7 },
      made([{ b64_json: PNG }], { usage: USAGE }),
      '/v1/images/generations',
      { model: 'gpt-image-1', prompt: 'a boat', size: '1536x1024', quality: 'high' },
    ],
    [
      'xAI’s own words',
      { model: 'grok-brush', aspect_ratio: '3:4', resolution: '2K' },
      made([{ b64_json: JPEG }]),
      '/v1/images/generations',
      {
        model: 'grok-brush',
        prompt: 'a boat',
        aspect_ratio: '3:4',
        resolution: '2k',
        response_format: 'b64_json',
      },
    ],
    [
      'xAI’s edits in JSON',
      {
        model: 'grok-brush',
        input_references: [{ type: 'image_url', image_url: { url: DATA_URL } }],
      },
      made([{ b64_json: PNG }]),
      '/v1/images/edits',
      {
        model: 'grok-brush',
        prompt: 'a boat',
        image: { type: 'image_url', url: DATA_URL },
        response_format: 'b64_json',
      },
    ],
    [
      'a conversation with a model that speaks',
      {
        model: 'talking',
        aspect_ratio: '4:3',
        input_references: [{ type: 'image_url', image_url: { url: DATA_URL } }],
      },
      () =>
        Response.json({
          id: 'c-1',
          choices: [
            {
              message: { content: 'Here', images: [{ type: 'image_url', image_url: { url: DATA_URL } }] },
              finish_reason: 'stop',
            },
          ],
          usage: { prompt_tokens: 5, completion_tokens: 100 },
        }),
      '/v1/chat/completions',
      {
        model: 'talking',
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'a boat' },
              { type: 'image_url', image_url: { url: DATA_URL } },
            ],
          },
        ],
        modalities: ['image', 'text'],
        image_config: { aspect_ratio: '4:3' },
      },
    ],
    [
      'Gemini',
      { model: 'gemini-brush', size: '1024x1024', resolution: null },
      () =>
        Response.json({
          candidates: [
            {
              content: { parts: [{ inlineData: { mimeType: 'image/png', data: PNG } }] },
              finishReason: 'STOP',
            },
          ],
          usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1_290 },
        }),
      '/v1beta/models/gemini-brush:generateContent',
      {
        contents: [{ role: 'user', parts: [{ text: 'a boat' }] }],
        generationConfig: { responseModalities: ['IMAGE', 'TEXT'], imageConfig: { aspectRatio: '1:1' } },
      },
    ],
    [
      'Imagen',
      { model: 'imagen-lab', n: 2, aspect_ratio: '9:16', resolution: '2K', output_format: 'jpeg', seed: 3 },
      () => Response.json({ predictions: [{ bytesBase64Encoded: JPEG }, { bytesBase64Encoded: PNG }] }),
      '/v1beta/models/imagen-lab:predict',
      {
        instances: [{ prompt: 'a boat' }],
        parameters: {
          sampleCount: 2,
          aspectRatio: '9:16',
          sampleImageSize: '2K',
          outputOptions: { mimeType: 'image/jpeg' },
          seed: 3,
          addWatermark: false,
        },
      },
    ],
  ]
  test.each(rows)('%s', async (_, body, answer, path, sent) => {
    answers = [answer]
    const reply = await ask(body)
    expect({ status: reply.status, body: await reply.json() }).toMatchObject({
      status: 200,
      body: { data: expect.arrayContaining([expect.objectContaining({ b64_json: expect.any(String) })]) },
    })
    expect(seen).toEqual([{ path, body: { ...sent }, files: [] }])
  })

  test('what could not be said is named', async () => {
    answers = [made([{ b64_json: PNG }], { usage: USAGE })]
    const body = {
      prompt: 'a boat',
      model: 'lab/gpt-image-1',
      aspect_ratio: '21:9',
      seed: 1,
      resolution: '4K',
    }
    const reply = await gateway.call('/images', body, { 'x-service-metadata': 'enabled' })
    const { service_metadata } = await reply.json()
    expect(service_metadata.params.dropped_parameters).toEqual(['seed', 'resolution', 'aspect_ratio'])
  })
})

describe('what comes back', () => {
  test('addresses are read, and types told by how the bytes begin', async () => {
    answers = [made([{ url: address('/files/a.png') }, { b64_json: JPEG }])]
    const reply = await ask({ model: 'brush', n: 2 })
    expect((await reply.json()).data).toEqual([
      { b64_json: PNG, media_type: 'image/png' },
      { b64_json: JPEG, media_type: 'image/jpeg' },
    ])
    expect(lastRow()).toMatchObject({
      cost_nano_usd: 80_000_000,
      usage_source: 'provider',
      num_media_completion: 2,
    })
  })

  test('usage that is not told is estimated, flagged and within the hold', async () => {
    answers = [made([{ b64_json: PNG }])]
    const reply = await ask({ model: 'lab/gpt-image-1', quality: 'low' })
    expect((await reply.json()).usage.cost).toBeGreaterThan(0)
    expect(lastRow()).toMatchObject({
      usage_source: 'estimated',
      estimated: 1,
      native_tokens_completion_images: 420,
    })
  })

  test('a model that makes one image at a time is asked as often as there are images', async () => {
    const one = () =>
      Response.json({
        choices: [
          {
            message: { content: '', images: [{ type: 'image_url', image_url: { url: DATA_URL } }] },
            finish_reason: 'stop',
          },
        ],
        usage: { prompt_tokens: 10, completion_tokens: 100 },
      })
    answers = [one, one, () => new Response('busy', { status: 500 })]
    const reply = await ask({ model: 'talking', n: 3 })
    expect((await reply.json()).data).toHaveLength(2)
    expect(seen).toHaveLength(3)
    expect(lastRow()).toMatchObject({
      cost_nano_usd: 2 * (10 * 1_000 + 100 * 30_000),
      num_media_completion: 2,
      native_tokens_prompt: 20,
    })
  })

  test('a model that speaks streams its words', async () => {
    const chunk = (delta: object, finish: string | null = null) => ({
      id: 'c',
      choices: [{ index: 0, delta, finish_reason: finish }],
    })
    answers = [
      events(
        chunk({ role: 'assistant', content: 'I paint' }),
        chunk({ images: [{ type: 'image_url', image_url: { url: DATA_URL } }] }),
        chunk({}, 'stop'),
        { id: 'c', choices: [], usage: { prompt_tokens: 4, completion_tokens: 10 } },
      ),
    ]
    const reply = await ask({ model: 'talking', stream: true })
    const lines = (await reply.text()).split('\n\n').filter((line) => line !== '')
    expect(lines.at(-1)).toBe('data: [DONE]')
    expect(lines.slice(0, -1).map((line) => JSON.parse(line.slice('data: '.length)))).toMatchObject([
      { type: 'image_generation.text_chunk', phase: 'content', text: 'I paint' },
      { type: 'image_generation.completed', b64_json: PNG, usage: { prompt_tokens: 4, cost: 0.000304 } },
    ])
  })

  const broken: [name: string, model: string, answer: () => Response, status: number, words: string][] = [
    ['no image', 'brush', made([]), 502, 'no completion'],
    ['{}', 'brush', () => Response.json({}), 502, 'no completion'],
    ['something that is not base64', 'brush', made([{ b64_json: '<html>' }]), 502, 'no completion'],
    ['an address of no image', 'brush', made([{ url: address('/files/a.txt') }]), 502, 'no completion'],
    [
      'an address inside our network',
      'brush',
      made([{ url: 'http://169.254.169.254/x.png' }]),
      502,
      'no completion',
    ],
    ['an address that is none', 'brush', made([{ url: '1K' }]), 502, 'no completion'],
    ['500', 'brush', () => new Response('boom', { status: 500 }), 502, 'error of its own'],
    [
      '429',
      'grok-brush',
      () => new Response('slow', { status: 429, headers: { 'retry-after': '7' } }),
      429,
      'rate limit',
    ],
    [
      'a refused prompt',
      'brush',
      () =>
        Response.json(
          { error: { message: 'not that', code: 'moderation_blocked', type: 'image_generation_user_error' } },
          { status: 400 },
        ),
      400,
      'not that',
    ],
    [
      'words alone',
      'talking',
      () => Response.json({ choices: [{ message: { content: 'No' }, finish_reason: 'stop' }] }),
      502,
      'no completion',
    ],
    [
      'a filtered conversation',
      'gemini-brush',
      () => Response.json({ candidates: [{ finishReason: 'SAFETY' }] }),
      400,
      'filter refused',
    ],
    [
      'a filtered Imagen',
      'imagen-lab',
      () => Response.json({ predictions: [{ raiFilteredReason: 'It shows a person.' }] }),
      400,
      'It shows a person.',
    ],
  ]
  test.each(broken)('%s', async (_, model, answer, status, words) => {
    answers = [answer, answer]
    const reply = await ask({ model })
    const { error } = await reply.json()
    expect({ status: reply.status, message: error.message }).toEqual({
      status,
      message: expect.stringContaining(words),
    })
    expect(lastRow()).toMatchObject({ cost_nano_usd: 0, finish_reason: 'error', api_type: 'image' })
  })

  test('a stream that breaks off before the image is whole never looks finished', async () => {
    answers = [events({ type: 'image_generation.partial_image', b64_json: PNG, partial_image_index: 0 })]
    const reply = await ask({ model: 'lab/gpt-image-1', stream: true })
    const text = await reply.text()
    expect(text).toContain('"type":"error"')
    expect(text).not.toContain('image_generation.completed')
    expect(lastRow()).toMatchObject({ finish_reason: 'error', cancelled: 0, num_media_completion: 0 })
  })

  test('a stream that fails before anything has a status of its own', async () => {
    const refused = () => Response.json({ error: { message: 'bad size' } }, { status: 400 })
    answers = [refused]
    const reply = await ask({ model: 'lab/gpt-image-1', stream: true })
    expect(reply.status).toBe(400)
    expect((await reply.json()).error.message).toBe('bad size')
  })
})

describe('requests that are not as they must be', () => {
  const reference = (url: string) => ({ input_references: [{ type: 'image_url', image_url: { url } }] })
  const rows: [body: object, message: string][] = [
    [{}, 'model: is required: neither'],
    [{ model: 'brush', prompt: '' }, 'prompt: must not be empty'],
    [{ model: 'brush', n: 0 }, 'n: must be a whole number from 1 to 10'],
    [{ model: 'brush', n: 11 }, 'n: must be a whole number from 1 to 10'],
    [{ model: 'brush', aspect_ratio: '1:3' }, 'aspect_ratio: must be one of'],
    [{ model: 'brush', resolution: '8K' }, 'resolution: must be one of'],
    [{ model: 'brush', size: 'large' }, 'size: must be WIDTHxHEIGHT'],
    [{ model: 'brush', size: '2K', resolution: '4K' }, 'size: contradicts "resolution"'],
    [{ model: 'brush', size: '1024x1024', resolution: '4K' }, 'resolution: has no meaning'],
    [{ model: 'brush', size: '1024x1024', aspect_ratio: '16:9' }, 'aspect_ratio: contradicts "size"'],
    [{ model: 'brush', quality: 'best' }, 'quality: must be one of'],
    [{ model: 'brush', output_format: 'bmp' }, 'output_format: must be one of'],
    [{ model: 'brush', output_compression: 101 }, 'output_compression: must be a whole number'],
    [
      {
        model: 'brush',
        input_references: Array.from({ length: 17 }, () => reference(DATA_URL).input_references[0]),
      },
      'input_references: must have at most 16',
    ],
    [
      { model: 'brush', ...reference('data:image/png;base64,aGVsbG8=') },
      'input_references[0].image_url.url: is not an image',
    ],
    [
      { model: 'brush', ...reference('data:image/png;base64,&&&') },
      'input_references[0].image_url.url: must be an https URL',
    ],
    [{ model: 'brush', ...reference('http://127.0.0.1/x.png') }, 'input_references[0].image_url.url: '],
    [{ model: 'brush', mask: reference(DATA_URL).input_references[0] }, 'mask: needs an image'],
    [
      { model: 'talking', ...reference(DATA_URL), mask: reference(DATA_URL).input_references[0] },
      'takes no mask with this model',
    ],
    [
      { model: 'brush', ...reference(DATA_URL), mask: reference('http://10.0.0.1/x').input_references[0] },
      'mask.image_url.url: ',
    ],
    [{ model: 'words' }, 'POST /chat/completions'],
    [{ model: 'talking', n: 2, stream: true }, 'one image at a time'],
    [{ model: 'imagen-lab', n: 5 }, 'at most 4 images'],
    [{ model: 'imagen-lab', ...reference(DATA_URL) }, 'from words alone'],
  ]
  test.each(rows)('%j', async (body, message) => {
    const before = gateway.generations().length
    const reply = await ask(body)
    const { error } = await reply.json()
    expect({ status: reply.status, message: error.message }).toEqual({
      status: 400,
      message: expect.stringContaining(message),
    })
    expect(seen).toEqual([])
    expect(gateway.generations()).toHaveLength(before)
  })

  test('forms: no file, a mask alone, a file of another name', async () => {
    const send = async (fields: Record<string, string | Blob>) => {
      const form = new FormData()
      for (const [name, value] of Object.entries({ model: 'brush', prompt: 'a', ...fields }))
        form.append(name, value)
      const headers = { authorization: `Bearer ${API_KEY}` }
      const reply = await fetch(`${gateway.url}/api/v1/images/edits`, { method: 'POST', headers, body: form })
      return { status: reply.status, message: (await reply.json()).error.message }
    }
    const png = new Blob([Buffer.from(PNG, 'base64')], { type: 'image/png' })
    expect(await send({})).toEqual({ status: 400, message: 'image: is required: at least one file' })
    expect(await send({ mask: png })).toMatchObject({
      status: 400,
      message: expect.stringMatching(/^image: /),
    })
    expect(await send({ picture: png })).toMatchObject({
      status: 400,
      message: expect.stringMatching(/^picture: /),
    })
    expect(await send({ image: new Blob(['text']) })).toMatchObject({
      status: 400,
      message: expect.stringContaining('is not an image'),
    })
    expect(seen).toEqual([])
  })
})

test('a workspace’s default image model serves a request without a model', async () => {
  gateway.database.file.run("UPDATE workspaces SET default_image_model = 'lab/brush'")
  gateway.deps.snapshot.applyChanges()
  answers = [made([{ b64_json: PNG }])]
  const reply = await ask({})
  expect({ status: reply.status, model: (await reply.json()).model }).toEqual({ status: 200, model: 'brush' })
  gateway.database.file.run('UPDATE workspaces SET default_image_model = NULL')
  gateway.deps.snapshot.applyChanges()
})
