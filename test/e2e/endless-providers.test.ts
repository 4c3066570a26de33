import { describe, expect, test } from 'bun:test'
import { gatewayOfFile } from '../file-setup.ts'
import { type Answer, chunk, frames, sse, startUpstream, unary } from '../upstream.ts'

/** Providers that never come to an end, each before one that answers: callers are served by that one, in time. */

const DIALECTS = ['chat', 'messages', 'responses'] as const
const endpoint = (id: string) => ({ id, pricing: { prompt: '0.000001', completion: '0.000002' } })

const upstream = startUpstream()
upstream.on('good', unary('Served'))
const gateway = await gatewayOfFile(
  {
    environment: { SLUICE_FIRST_BYTE_TIMEOUT_MS: '600', SLUICE_STALL_TIMEOUT_MS: '400' },
    providers: [
      ...DIALECTS.map((dialect) => ({
        slug: `endless-${dialect}`,
        dialect,
        base_url: upstream.baseUrl,
        models: Array.from({ length: 24 }, (_, i) => endpoint(`${dialect}-${i}`)),
      })),
      { slug: 'good', dialect: 'chat', base_url: upstream.baseUrl, models: [endpoint('good')] },
    ],
  },
  upstream,
)

/** Sends `first`, and then `piece` for ever. */
function endless(piece: string, init: ResponseInit = {}, first = ''): Response {
  const encoder = new TextEncoder()
  let drip: ReturnType<typeof setInterval>
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      if (first !== '') controller.enqueue(encoder.encode(first))
      drip = setInterval(() => controller.enqueue(encoder.encode(piece)), 20)
    },
    cancel: () => clearInterval(drip),
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' }, ...init })
}

let count = 0
/** A model that no test has asked yet, answered like this: an endpoint that failed rests for a while. */
function answering(dialect: (typeof DIALECTS)[number], answer: Answer): string {
  const model = `${dialect}-${count++}`
  upstream.on(model, answer)
  return model
}

async function ask(model: string, more: Record<string, unknown> = {}): Promise<Response> {
  const messages = [{ role: 'user', content: 'Hello' }]
  const response = await gateway.call('/chat/completions', { models: [model, 'good'], messages, ...more })
  expect(upstream.seen.some(({ body }) => body['model'] === model)).toBe(true)
  return response
}

const PINGS: [what: string, dialect: (typeof DIALECTS)[number], piece: string][] = [
  ['comments', 'chat', ': keep-alive\n\n'],
  ['chunks with a role and no content', 'chat', chunk({ role: 'assistant', content: '' })],
  ['a byte now and then', 'chat', 'd'],
  ['blank lines', 'chat', '\n'],
  ['pings of Messages', 'messages', 'event: ping\ndata: {"type":"ping"}\n\n'],
  ['pings of Responses', 'responses', 'event: keepalive\ndata: {"type":"keepalive","sequence_number":1}\n\n'],
]

describe('nothing but', () => {
  test.each(PINGS)('%s: the next endpoint answers a stream', async (_, dialect, piece) => {
    const model = answering(dialect, () => endless(piece))
    const response = await ask(model, { stream: true })
    expect(await response.text()).toContain('Served')
  })

  test('a byte now and then of a whole reply: the next endpoint answers', async () => {
    const model = answering('chat', () => endless('{', { headers: { 'content-type': 'application/json' } }))
    const response = await ask(model)
    expect(await response.json()).toMatchObject({ model: 'good' })
  })

  test('pings in the middle of an answer: the caller gets an error', async () => {
    const model = answering('chat', () => endless(': keep-alive\n\n', {}, chunk({ content: 'Half' })))
    const text = await (await ask(model, { stream: true })).text()
    expect(text).toContain('Half')
    expect(text).toContain('did not answer in time')
    expect(text).not.toContain('[DONE]')
  })
})

test('pings between pieces of an answer are no harm', async () => {
  const encoder = new TextEncoder()
  const parts = frames(['Well', ' thought'])
  const pinged = parts.flatMap((part) => [part, ...Array.from({ length: 12 }, () => ': keep-alive\n\n')])
  const model = answering('chat', () => {
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const part = pinged.shift()
        if (part === undefined) return controller.close()
        await Bun.sleep(15)
        controller.enqueue(encoder.encode(part))
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  })
  const text = await (await ask(model, { stream: true })).text()
  expect(text).toContain('thought')
  expect(text).toEndWith('[DONE]\n\n')
})

describe('an error', () => {
  test('whose body drips for ever: its status sends the request to the next endpoint', async () => {
    const model = answering('chat', () => endless('no ', { status: 503 }))
    const response = await ask(model)
    expect(await response.json()).toMatchObject({ model: 'good' })
  }, 15_000)

  test('that is long is shown by its beginning', async () => {
    const message = `prompt is too long: ${'x'.repeat(100_000)}`
    const model = answering('chat', () => Response.json({ error: { message } }, { status: 400 }))
    const response = await ask(model, { models: [model] })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('"message":"prompt is too long: xxx')
  })
})

describe('fields that are nested very deep', () => {
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  const whole = (levels: number) =>
    `{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"Deep"},"finish_reason":"stop"}],"unknown":${deep(levels)}}`

  test.each([200, 20_000, 1_000_000])(
    '%d levels of a whole reply: the next endpoint answers',
    async (levels) => {
      const model = answering('chat', () => new Response(whole(levels)))
      const response = await ask(model)
      expect(response.status).toBe(200)
      expect(await response.json()).toMatchObject({ model: 'good' })
    },
  )

  test.each(DIALECTS)('an event of %s: the next endpoint answers', async (dialect) => {
    const model = answering(dialect, () => sse([`data: {"type":"response.x","unknown":${deep(20_000)}}\n\n`]))
    const response = await ask(model, { stream: true })
    expect(await response.text()).toContain('Served')
  })

  test('no other endpoint: 502', async () => {
    const model = answering('chat', () => new Response(whole(20_000)))
    const response = await ask(model, { models: [model] })
    expect(response.status).toBe(502)
  })

  test('as deep as answers are: it is passed on', async () => {
    const model = answering('chat', () => new Response(whole(60)))
    expect(await (await ask(model)).text()).toContain('Deep')
  })
})
