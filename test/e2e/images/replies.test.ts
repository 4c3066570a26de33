import { describe, expect, test } from 'bun:test'
import { namedEvents } from '../replies.ts'
import { DATA_URL, JPEG, made, PNG, startForImages } from './setup.ts'

/** Replies of image providers, complete, streamed and broken. */

const { upstream, ask, lastRow } = await startForImages()

describe('a reply with images', () => {
  test('has the bytes behind URLs, and types recognized by the first bytes', async () => {
    upstream.answers = [made([{ url: `${upstream.origin}/files/a.png` }, { b64_json: JPEG }])]
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

  test('has estimated, flagged usage within the reservation if the provider reports none', async () => {
    upstream.answers = [made([{ b64_json: PNG }])]
    const reply = await ask({ model: 'lab/gpt-image-1', quality: 'low' })
    expect((await reply.json()).usage.cost).toBeGreaterThan(0)
    expect(lastRow()).toMatchObject({
      usage_source: 'estimated',
      estimated: 1,
      native_tokens_completion_images: 420,
    })
  })

  test('comes from as many calls as there are images if the model makes one at a time', async () => {
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
    upstream.answers = [one, one, () => new Response('busy', { status: 500 })]
    const reply = await ask({ model: 'talking', n: 3 })
    expect((await reply.json()).data).toHaveLength(2)
    expect(upstream.seen).toHaveLength(3)
    expect(lastRow()).toMatchObject({
      cost_nano_usd: 2 * (10 * 1_000 + 100 * 30_000),
      num_media_completion: 2,
      native_tokens_prompt: 20,
    })
  })

  test('streams the words of a chat model', async () => {
    const chunk = (delta: object, finish: string | null = null) => ({
      id: 'c',
      choices: [{ index: 0, delta, finish_reason: finish }],
    })
    upstream.answers = [
      namedEvents(
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
    ['an image that is not base64', 'brush', made([{ b64_json: '<html>' }]), 502, 'no completion'],
    ['a URL of a text', 'brush', made([{ url: `${upstream.origin}/files/a.txt` }]), 502, 'no completion'],
    [
      'a URL of a private address',
      'brush',
      made([{ url: 'http://169.254.169.254/x.png' }]),
      502,
      'no completion',
    ],
    ['a URL that cannot be parsed', 'brush', made([{ url: '1K' }]), 502, 'no completion'],
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
  test.each(broken)('becomes an error that costs nothing: %s', async (_, model, answer, status, words) => {
    upstream.answers = [answer, answer]
    const reply = await ask({ model })
    const { error } = await reply.json()
    expect({ status: reply.status, message: error.message }).toEqual({
      status,
      message: expect.stringContaining(words),
    })
    expect(lastRow()).toMatchObject({ cost_nano_usd: 0, finish_reason: 'error', api_type: 'image' })
  })

  test('ends with an error if the stream breaks off before the last image', async () => {
    upstream.answers = [
      namedEvents({ type: 'image_generation.partial_image', b64_json: PNG, partial_image_index: 0 }),
    ]
    const reply = await ask({ model: 'lab/gpt-image-1', stream: true })
    const text = await reply.text()
    expect(text).toContain('"type":"error"')
    expect(text).not.toContain('image_generation.completed')
    expect(lastRow()).toMatchObject({ finish_reason: 'error', cancelled: 0, num_media_completion: 0 })
  })

  test('has the status of the error if a stream fails before its first event', async () => {
    const refused = () => Response.json({ error: { message: 'bad size' } }, { status: 400 })
    upstream.answers = [refused]
    const reply = await ask({ model: 'lab/gpt-image-1', stream: true })
    expect(reply.status).toBe(400)
    expect((await reply.json()).error.message).toBe('bad size')
  })
})
