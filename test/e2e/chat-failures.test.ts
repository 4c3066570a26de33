import { beforeAll, describe, expect, test } from 'bun:test'
import { chunk, dataLines, sse, streamed, unary } from '../upstream.ts'
import { ask, FAILING, startForChat } from './chat-setup.ts'

/** POST /chat/completions when providers fail: fail-over, and what the caller gets of the reason. */

const { upstream, gateway, lastGeneration } = await startForChat()

let failing = 0

describe('fail-over before the first content', () => {
  const failures: [string, () => Response][] = [
    ['500', () => new Response('oops', { status: 500 })],
    ['503', () => new Response('{}', { status: 503 })],
    ['429', () => Response.json({ error: { message: 'slow down' } }, { status: 429 })],
    ['408', () => new Response('', { status: 408 })],
    [
      'a refused credential',
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
    test.each(failures)(
      `follows ${stream ? 'a streamed' : 'a complete'} reply with %s`,
      async (_, failure) => {
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
      },
    )
  }

  test('does not follow an error of the caller', async () => {
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

  test('has no attempt if the key has no money', async () => {
    const { key } = await gateway.makeKey({ limit: 0 })
    const headers = { ...opted, authorization: `Bearer ${key}` }
    const response = await gateway.call('/chat/completions', ask(), headers)
    expect(response.status).toBe(402)
    expect((await response.json()).service_metadata).toMatchObject({ requested: 'tiny', attempt: 0 })
  })
})

test('a reason is passed on without the keys in it', async () => {
  const message = 'secret-of-lab, sk-abcdefghijklmnop and AIzaSyabcdefghijklmnop: temperature is out of range'
  upstream.on('mistaken', () => Response.json({ error: { message } }, { status: 422 }))
  const response = await gateway.call('/chat/completions', ask({ model: 'mistaken' }))
  expect((await response.json()).error.message).toBe('…, … and …: temperature is out of range')
})

test('a reason is passed on without the addresses of the operator’s servers, or the first part of a truncated key', async () => {
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

describe('the error when no endpoint answers', () => {
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
    [
      'a body larger than any reason',
      () => new Response('secret'.repeat(1e6), { status: 429 }),
      429,
      /rate limit/,
    ],
    ['HTML', () => new Response('<html>secret</html>'), 502, /no completion/],
  ]
  for (const stream of [false, true]) {
    test.each(rows)(
      `has the right status and no secret, ${stream ? 'streamed' : 'complete'}: %s`,
      async (_, answer, status, sentence) => {
        upstream.on('other', answer)
        const response = await gateway.call('/chat/completions', ask({ model: 'other', stream }))
        expect(response.status).toBe(status)
        expect(response.headers.get('x-generation-id')).toMatch(/^gen-/)
        const text = await response.text()
        expect(JSON.parse(text).error).toMatchObject({
          code: status,
          message: expect.stringMatching(sentence),
        })
        expect(text).not.toContain('secret')
        expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
      },
    )
  }
})
