import { describe, expect, test } from 'bun:test'
import { chunk, DONE, dataLines, frames, sse, streamed, USAGE, unary, usageChunk } from '../upstream.ts'
import { ask, startForChat } from './chat-setup.ts'

/** POST /chat/completions: complete and streamed answers, and how a stream may end. */

const { upstream, gateway, lastGeneration } = await startForChat()

describe('a complete answer', () => {
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

  test('comes from a request with the provider’s name of the model, its credential, and unknown fields at every level', async () => {
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

  test('keeps unknown fields of the reply', async () => {
    upstream.on(
      'tiny',
      unary('ok', { system_fingerprint: 'fp_1', service_tier: 'default', novelty: { x: 1 } }),
    )
    const body = await (await gateway.call('/chat/completions', ask())).json()
    expect(body).toMatchObject({ system_fingerprint: 'fp_1', service_tier: 'default', novelty: { x: 1 } })
  })

  test('keeps what a provider adds to its usage, beside the gateway’s fields', async () => {
    const details = { prompt_tokens_details: { cached_tokens: 0, video_tokens: 3 } }
    upstream.on('tiny', unary('ok', { usage: { ...USAGE, ...details, queue_time: 0.5, deep: { x: [1] } } }))
    const { usage } = await (await gateway.call('/chat/completions', ask())).json()
    expect(usage).toMatchObject({ ...USAGE, ...details, queue_time: 0.5, deep: { x: [1] }, cost: 0.00002 })
    expect(usage.prompt_tokens_details.cache_write_tokens).toBe(0)
  })

  test('has routing metadata under both names if a header requests it', async () => {
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
  test('comes chunk by chunk, with usage last and [DONE] at the end', async () => {
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

  test('is settled before its finish is sent', async () => {
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

  test('begins with the body that was sent upstream if debug.echo_upstream_body is set', async () => {
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

describe('the end of a stream', () => {
  const cases: [string, string[], 'complete' | 'error', Record<string, unknown>][] = [
    [
      'no [DONE] but a finish',
      [chunk({ content: 'x' }), chunk({}, 'stop'), usageChunk()],
      'complete',
      { usage_source: 'provider' },
    ],
    [
      '[DONE] but no finish',
      [chunk({ content: 'x' }), DONE],
      'complete',
      { finish_reason: 'stop', usage_source: 'estimated' },
    ],
    [
      'no usage',
      [chunk({ content: 'x' }), chunk({}, 'stop'), DONE],
      'complete',
      { usage_source: 'estimated' },
    ],
    [
      'usage of 0',
      [
        chunk({ content: 'x' }),
        chunk({}, 'stop'),
        usageChunk({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }),
        DONE,
      ],
      'complete',
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
  test.each(cases)(
    'with %s is settled, and an error only if the answer is incomplete',
    async (_, parts, expected, row) => {
      upstream.on('tiny', () => sse(parts))
      const lines = await dataLines(await gateway.call('/chat/completions', ask({ stream: true })))
      const chunks = lines.filter((line) => line !== '[DONE]').map((line) => JSON.parse(line))
      const last = chunks.at(-1)
      if (expected === 'complete') {
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
    },
  )
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
