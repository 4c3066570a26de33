import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../gateway.ts'
import {
  chunk,
  DONE,
  dataLines,
  type FakeUpstream,
  frames,
  sse,
  startUpstream,
  streamed,
  USAGE,
  unary,
  usageChunk,
} from '../upstream.ts'

let upstream: FakeUpstream
let gateway: Gateway

const entry = (slug: string, baseUrl: string, models: string[], more: Record<string, unknown> = {}) => ({
  slug,
  name: slug.toUpperCase(),
  dialect: 'chat',
  base_url: baseUrl,
  api_key: `secret-of-${slug}`,
  models: models.map((id) => ({
    id,
    pricing: { prompt: '0.000001', completion: '0.000002', request: '0' },
    ...more,
  })),
})

/** A model for each failure, so that no breaker of a former one decides. */
const FAILING = Array.from({ length: 40 }, (_, index) => `failing-${index}`)
let failing = 0

beforeAll(async () => {
  upstream = startUpstream()
  gateway = await startGateway({
    providers: [
      entry('lab', upstream.baseUrl, ['tiny', 'other', 'mistaken', ...FAILING]),
      entry('second', upstream.baseUrl, ['backup']),
    ],
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})
beforeEach(() => {
  upstream.seen.length = 0
})

const ask = (more: Record<string, unknown> = {}) => ({
  model: 'tiny',
  messages: [{ role: 'user', content: 'Hello' }],
  ...more,
})
const lastGeneration = () => gateway.generations().at(-1) ?? {}

describe('a unary answer', () => {
  test('has the shape, the price and the record', async () => {
    upstream.on('tiny', unary('Hi there'))
    const response = await gateway.call('/chat/completions', ask())
    expect(response.status).toBe(200)
    const id = response.headers.get('x-generation-id')
    const body = await response.json()
    expect(body).toMatchObject({
      id,
      object: 'chat.completion',
      provider: 'LAB',
      system_fingerprint: null,
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          native_finish_reason: 'stop',
          message: { role: 'assistant', content: 'Hi there' },
        },
      ],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cost: 0.00002, is_byok: false },
    })
    expect(id).toMatch(/^gen-[0-9a-f]{32}$/)

    const record = await (await gateway.call(`/generation?id=${id}`)).json()
    expect(record.data).toMatchObject({
      id,
      model: body.model,
      provider_name: 'LAB',
      total_cost: 0.00002,
      usage: 0.00002,
      native_tokens_prompt: 10,
      native_tokens_completion: 5,
      finish_reason: 'stop',
      streamed: false,
      cancelled: false,
      api_type: 'completions',
      upstream_id: 'chatcmpl-up',
    })
  })

  test('the provider gets its own name of the model, its credential, and unknown fields at every level', async () => {
    upstream.on('tiny', unary('ok'))
    await gateway.call(
      '/chat/completions',
      ask({
        messages: [
          {
            role: 'user',
            content: [{ type: 'text', text: 'x', part_extra: 1 }],
            message_extra: { deep: [1] },
          },
        ],
        top_extra: { a: { b: null } },
        provider: { only: ['lab'] },
      }),
      { 'x-api-key': 'a-foreign-secret', cookie: 'session=1', 'x-forwarded-for': '9.9.9.9' },
    )
    const [seen] = upstream.seen
    expect(seen?.path).toBe('/v1/chat/completions')
    expect(seen?.headers.get('authorization')).toBe('Bearer secret-of-lab')
    for (const name of ['x-api-key', 'cookie', 'x-forwarded-for', 'http-referer'])
      expect(seen?.headers.get(name)).toBeNull()
    expect(seen?.body).toEqual({
      model: 'tiny',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'x', part_extra: 1 }], message_extra: { deep: [1] } },
      ],
      top_extra: { a: { b: null } },
    })
  })

  test('unknown fields of the reply survive', async () => {
    upstream.on(
      'tiny',
      unary('ok', { system_fingerprint: 'fp_1', service_tier: 'default', novelty: { x: 1 } }),
    )
    const body = await (await gateway.call('/chat/completions', ask())).json()
    expect(body).toMatchObject({ system_fingerprint: 'fp_1', service_tier: 'default', novelty: { x: 1 } })
  })

  test('what a provider adds to its usage survives, beside ours', async () => {
    const details = { prompt_tokens_details: { cached_tokens: 0, video_tokens: 3 } }
    upstream.on('tiny', unary('ok', { usage: { ...USAGE, ...details, queue_time: 0.5, deep: { x: [1] } } }))
    const { usage } = await (await gateway.call('/chat/completions', ask())).json()
    expect(usage).toMatchObject({ ...USAGE, ...details, queue_time: 0.5, deep: { x: [1] }, cost: 0.00002 })
    expect(usage.prompt_tokens_details.cache_write_tokens).toBe(0)
  })

  test('routing metadata comes under both names when a header asks for it', async () => {
    upstream.on('tiny', unary('ok'))
    for (const header of ['x-service-metadata', 'x-openrouter-metadata', 'x-service-experimental-metadata']) {
      const body = await (await gateway.call('/chat/completions', ask(), { [header]: 'Enabled' })).json()
      expect(body.service_metadata).toMatchObject({
        requested: 'tiny',
        strategy: 'direct',
        attempt: 1,
        is_byok: false,
        region: null,
        endpoints: { total: 1, available: [{ provider: 'LAB', selected: true }] },
        attempts: [{ provider: 'LAB', status: 200 }],
      })
      expect(body.openrouter_metadata).toEqual(body.service_metadata)
    }
    const plain = await (await gateway.call('/chat/completions', ask())).json()
    expect(plain.service_metadata).toBeUndefined()
  })
})

describe('a streamed answer', () => {
  test('chunk by chunk, usage last, [DONE] at the end', async () => {
    upstream.on('tiny', streamed(['Hello', ' ', 'wörld', ' "quoted" \n']))
    const response = await gateway.call('/chat/completions', ask({ stream: true }))
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    const lines = await dataLines(response)
    expect(lines.at(-1)).toBe('[DONE]')
    const chunks = lines.slice(0, -1).map((line) => JSON.parse(line))
    const id = response.headers.get('x-generation-id')
    for (const each of chunks)
      expect(each).toMatchObject({ id, object: 'chat.completion.chunk', provider: 'LAB' })
    expect(chunks[0].choices[0].delta.role).toBe('assistant')
    expect(
      chunks
        .flatMap((each) =>
          each.choices.map((choice: { delta: { content?: string } }) => choice.delta.content ?? ''),
        )
        .join(''),
    ).toBe('Hello wörld "quoted" \n')
    const finishes = chunks.filter((each) => each.choices[0]?.finish_reason)
    expect(finishes.map((each) => each.choices[0].finish_reason)).toEqual(['stop'])
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 10, completion_tokens: 5, cost: 0.00002 },
    })
    expect(upstream.seen[0]?.body['stream_options']).toEqual({ include_usage: true })
    expect(lastGeneration()).toMatchObject({
      id,
      cost_nano_usd: 20_000,
      streamed: 1,
      usage_source: 'provider',
    })
  })

  test('the settlement is committed before the finish is sent', async () => {
    upstream.on('tiny', streamed(['a', 'b']))
    const response = await gateway.call('/chat/completions', ask({ stream: true }))
    const id = response.headers.get('x-generation-id')
    const decoder = new TextDecoder()
    let sawFinish = false
    for await (const bytes of response.body ?? []) {
      const text = decoder.decode(bytes, { stream: true })
      if (!/"finish_reason":"stop"|\[DONE\]/.test(text)) continue
      sawFinish = true
      expect(gateway.generations().some((row) => row['id'] === id)).toBe(true)
    }
    expect(sawFinish).toBe(true)
  })

  test('debug.echo_upstream_body sends the body that went upstream first', async () => {
    upstream.on('tiny', streamed(['x']))
    const response = await gateway.call(
      '/chat/completions',
      ask({ stream: true, debug: { echo_upstream_body: true } }),
    )
    const [first] = await dataLines(response)
    expect(JSON.parse(first ?? '')).toMatchObject({
      choices: [],
      debug: { echo_upstream_body: { model: 'tiny', stream: true } },
    })
  })

  test('may hold an image, which is one event of megabytes', async () => {
    const url = `data:image/png;base64,${'A'.repeat(3_000_000)}`
    const images = [{ type: 'image_url', image_url: { url } }]
    upstream.on('tiny', () => sse([chunk({ images }), chunk({}, 'stop'), usageChunk(), DONE]))
    const lines = await dataLines(await gateway.call('/chat/completions', ask({ stream: true })))
    expect(JSON.parse(lines[0] ?? '').choices[0].delta.images).toEqual(images)
    expect(lines.at(-1)).toBe('[DONE]')
  })
})

describe('endings', () => {
  const cases: [string, string[], 'whole' | 'error', Record<string, unknown>][] = [
    [
      'no [DONE] but a finish',
      [chunk({ content: 'x' }), chunk({}, 'stop'), usageChunk()],
      'whole',
      { usage_source: 'provider' },
    ],
    [
      '[DONE] but no finish',
      [chunk({ content: 'x' }), DONE],
      'whole',
      { finish_reason: 'stop', usage_source: 'estimated' },
    ],
    [
      'usage not told',
      [chunk({ content: 'x' }), chunk({}, 'stop'), DONE],
      'whole',
      { usage_source: 'estimated' },
    ],
    [
      'usage told as 0',
      [
        chunk({ content: 'x' }),
        chunk({}, 'stop'),
        usageChunk({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }),
        DONE,
      ],
      'whole',
      { cost_nano_usd: 0, usage_source: 'provider' },
    ],
    [
      'neither finish nor marker',
      [chunk({ content: 'x' })],
      'error',
      { finish_reason: 'error', cancelled: 0, usage_source: 'estimated' },
    ],
    [
      'an unreadable line',
      [chunk({ content: 'x' }), 'data: {"broken\n\n', chunk({}, 'stop'), DONE],
      'error',
      { finish_reason: 'error' },
    ],
    [
      'an error object',
      [chunk({ content: 'x' }), 'data: {"error":{"message":"boom","code":500}}\n\n'],
      'error',
      { finish_reason: 'error' },
    ],
  ]
  test.each(cases)('%s', async (_, parts, expected, row) => {
    upstream.on('tiny', () => sse(parts))
    const lines = await dataLines(await gateway.call('/chat/completions', ask({ stream: true })))
    const chunks = lines.filter((line) => line !== '[DONE]').map((line) => JSON.parse(line))
    const last = chunks.at(-1)
    if (expected === 'whole') {
      expect(lines.at(-1)).toBe('[DONE]')
      expect(last.error).toBeUndefined()
    } else {
      expect(lines).not.toContain('[DONE]')
      expect(last.error).toMatchObject({ code: expect.any(Number), message: expect.any(String) })
      expect(last.choices[0]).toMatchObject({ index: 0, finish_reason: 'error' })
    }
    expect(lastGeneration()).toMatchObject(row)
    if (row['cost_nano_usd'] !== 0) expect(lastGeneration()['cost_nano_usd']).toBeGreaterThan(0)
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  })
})

describe('failing over before the first content', () => {
  const failures: [string, () => Response][] = [
    ['500', () => new Response('oops', { status: 500 })],
    ['503', () => new Response('{}', { status: 503 })],
    ['429', () => Response.json({ error: { message: 'slow down' } }, { status: 429 })],
    ['408', () => new Response('', { status: 408 })],
    [
      'our credential is refused',
      () => Response.json({ error: { message: 'bad key sk-secret' } }, { status: 401 }),
    ],
    ['a redirect', () => new Response('', { status: 307, headers: { location: 'http://127.0.0.1:1/' } })],
    ['an empty 200', () => new Response('')],
    ['HTML', () => new Response('<html>hello</html>', { headers: { 'content-type': 'text/html' } })],
    ['{}', () => Response.json({})],
    ['no choices', () => Response.json({ choices: [] })],
    ['an error object in a 200', () => Response.json({ error: { message: 'internal', code: 500 } })],
    ['a stream that ends at once', () => sse([chunk({ role: 'assistant', content: '' })])],
  ]
  for (const stream of [false, true]) {
    test.each(failures)(`${stream ? 'streamed' : 'unary'}: %s`, async (_, failure) => {
      const model = FAILING[failing++] ?? ''
      upstream.on(model, failure)
      upstream.on('backup', stream ? streamed(['from the second']) : unary('from the second'))
      const response = await gateway.call('/chat/completions', ask({ model, stream, models: ['backup'] }))
      expect(response.status).toBe(200)
      expect(upstream.seen.map((seen) => seen.body['model'])).toEqual([model, 'backup'])
      const text = await response.text()
      expect(text).toContain('from the second')
      expect(text).not.toContain('"error":{')
      expect(lastGeneration()).toMatchObject({ provider_slug: 'second', cost_nano_usd: 20_000 })
    })
  }

  test('the caller’s own mistake is not tried elsewhere', async () => {
    upstream.on('mistaken', () =>
      Response.json(
        { error: { message: 'temperature is out of range', code: 'bad_value' } },
        { status: 400 },
      ),
    )
    const response = await gateway.call('/chat/completions', ask({ model: 'mistaken', models: ['backup'] }))
    expect(response.status).toBe(400)
    expect((await response.json()).error).toMatchObject({
      code: 400,
      message: expect.stringContaining('temperature is out of range'),
    })
    expect(upstream.seen.map((seen) => seen.body['model'])).toEqual(['mistaken'])
    expect(lastGeneration()).toMatchObject({ cost_nano_usd: 0, finish_reason: 'error' })
  })
})

describe('routing metadata on an error', () => {
  const opted = { 'x-service-metadata': 'enabled' }
  const attempts = [{ model: 'mistaken', provider: 'LAB', status: 400 }]
  beforeAll(() => {
    upstream.on('mistaken', () => Response.json({ error: { message: 'no' } }, { status: 400 }))
  })

  test('stands beside the error, under both names', async () => {
    const body = await (await gateway.call('/chat/completions', ask({ model: 'mistaken' }), opted)).json()
    expect(body.service_metadata).toMatchObject({ requested: 'mistaken', attempt: 1, attempts })
    expect(body.openrouter_metadata).toEqual(body.service_metadata)
    const plain = await (await gateway.call('/chat/completions', ask({ model: 'mistaken' }))).json()
    expect(Object.keys(plain)).toEqual(['error'])
  })

  test('is on the error event of a stream', async () => {
    upstream.on('tiny', () => sse([chunk({ content: 'x' })]))
    const lines = await dataLines(await gateway.call('/chat/completions', ask({ stream: true }), opted))
    const last = JSON.parse(lines.at(-1) ?? '')
    expect(last.error.code).toBe(502)
    expect(last.service_metadata).toMatchObject({ requested: 'tiny', attempt: 1 })
    expect(last.openrouter_metadata).toEqual(last.service_metadata)
  })

  test('says that nobody was asked when the key has no money', async () => {
    const { key } = await gateway.makeKey({ limit: 0 })
    const headers = { ...opted, authorization: `Bearer ${key}` }
    const response = await gateway.call('/chat/completions', ask(), headers)
    expect(response.status).toBe(402)
    expect((await response.json()).service_metadata).toMatchObject({ requested: 'tiny', attempt: 0 })
  })
})

test('a reason is shown without the keys that it repeats', async () => {
  const message = 'secret-of-lab, sk-abcdefghijklmnop and AIzaSyabcdefghijklmnop: temperature is out of range'
  upstream.on('mistaken', () => Response.json({ error: { message } }, { status: 422 }))
  const response = await gateway.call('/chat/completions', ask({ model: 'mistaken' }))
  expect((await response.json()).error.message).toBe('…, … and …: temperature is out of range')
})

test('nor with where the operator has its servers, or the beginning of a key at which it was cut', async () => {
  const reason = async (message: string) => {
    upstream.on('mistaken', () => Response.json({ error: { message } }, { status: 422 }))
    const response = await gateway.call('/chat/completions', ask({ model: 'mistaken' }))
    return (await response.json()).error.message
  }
  expect(await reason(`no route at ${upstream.baseUrl}/chat: n is out of range`)).toBe(
    'no route at …/v1/chat: n is out of range',
  )
  expect(await reason('https://root:hunter2@10.0.0.7/v1 says: n is out of range')).toBe(
    'https://…@10.0.0.7/v1 says: n is out of range',
  )
  const long = 'x'.repeat(990)
  expect(await reason(`${long}secret-of-lab is wrong`)).toBe(`${long}…`)
})

describe('when no endpoint answers', () => {
  const rows: [string, () => Response, number, RegExp][] = [
    ['500', () => new Response('secret stack', { status: 500 }), 502, /error of its own/],
    [
      'credential',
      () => Response.json({ error: { message: 'Incorrect API key sk-secret' } }, { status: 401 }),
      502,
      /credential/,
    ],
    ['payment', () => Response.json({ error: { message: 'no money' } }, { status: 402 }), 502, /no balance/],
    ['rate', () => Response.json({ error: { message: 'slow' } }, { status: 429 }), 429, /rate limit/],
    ['overloaded', () => Response.json({ error: { message: 'busy' } }, { status: 529 }), 529, /overloaded/],
    [
      'too large',
      () => Response.json({ error: { message: 'prompt too long' } }, { status: 413 }),
      413,
      /prompt too long/,
    ],
    [
      'a reason that repeats the prompt',
      () =>
        Response.json(
          {
            detail: [{ loc: ['body', 'seed'], msg: 'Input should be less', input: 'secret'.repeat(100_000) }],
          },
          { status: 422 },
        ),
      422,
      /body\.seed: Input should be less/,
    ],
    ['larger than any reason', () => new Response('secret'.repeat(1e6), { status: 429 }), 429, /rate limit/],
    ['HTML', () => new Response('<html>secret</html>'), 502, /no completion/],
  ]
  for (const stream of [false, true]) {
    test.each(rows)(`${stream ? 'streamed' : 'unary'}: %s`, async (_, answer, status, sentence) => {
      upstream.on('other', answer)
      const response = await gateway.call('/chat/completions', ask({ model: 'other', stream }))
      expect(response.status).toBe(status)
      expect(response.headers.get('x-generation-id')).toMatch(/^gen-/)
      const text = await response.text()
      expect(JSON.parse(text).error).toMatchObject({ code: status, message: expect.stringMatching(sentence) })
      expect(text).not.toContain('secret')
      expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
    })
  }
})

test('a stream whose usage repeats and whose ids differ is one answer', async () => {
  upstream.on('tiny', () =>
    sse([
      chunk({ role: 'assistant', content: 'a' }, null, {
        id: '1',
        usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 },
      }),
      chunk({ role: 'assistant', content: 'b' }, null, {
        id: '2',
        usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
      }),
      chunk({}, 'stop', { id: '3', usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }),
      DONE,
    ]),
  )
  const lines = await dataLines(await gateway.call('/chat/completions', ask({ stream: true })))
  const ids = new Set(lines.slice(0, -1).map((line) => JSON.parse(line).id))
  expect(ids.size).toBe(1)
  expect(lastGeneration()).toMatchObject({ cost_nano_usd: 20_000 })
})

test('every frame of a long stream arrives once and in order', async () => {
  const words = Array.from({ length: 2_000 }, (_, index) => `${index},`)
  upstream.on('tiny', () => sse(frames(words)))
  const lines = await dataLines(await gateway.call('/chat/completions', ask({ stream: true })))
  const text = lines
    .slice(0, -1)
    .flatMap((line) => JSON.parse(line).choices)
    .map((choice: { delta: { content?: string } }) => choice.delta.content ?? '')
    .join('')
  expect(text).toBe(words.join(''))
})
