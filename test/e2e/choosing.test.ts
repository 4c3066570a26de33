import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type Gateway, startGateway } from '../gateway.ts'
import {
  type Answer,
  chunk,
  DONE,
  type FakeUpstream,
  sse,
  startUpstream,
  unary,
  usageChunk,
} from '../upstream.ts'

let upstream: FakeUpstream
let gateway: Gateway
beforeEach(async () => {
  upstream = startUpstream()
  const entry = (slug: string, price: string) => ({
    slug,
    dialect: 'chat',
    base_url: upstream.baseUrl,
    models: [{ id: 'answer', upstream_id: slug, pricing: { prompt: price, completion: price } }],
  })
  gateway = await startGateway({ providers: [entry('cheap', '0.0000001'), entry('dear', '0.0001')] })
})
afterEach(async () => {
  await gateway.stop()
  await upstream.stop()
})

const asked = () => upstream.seen.map(({ body }) => String(body['model']))
async function ask(fields: Record<string, unknown>): Promise<void> {
  const reply = await gateway.call('/chat/completions', { model: 'answer', messages: [hi], ...fields })
  await reply.text()
  expect(reply.status).toBe(200)
}
const hi = { role: 'user', content: 'Hi' }
const turn = [hi, { role: 'assistant', content: 'Hello' }, hi]

/** A call of the tool `tide`, in one piece or in two. */
const calling =
  (json: string): Answer =>
  (seen, request) => {
    const start = { index: 0, id: 'call-1', type: 'function', function: { name: 'tide', arguments: '' } }
    if (seen.body['stream'] !== true) {
      const message = {
        role: 'assistant',
        content: null,
        tool_calls: [{ ...start, function: { name: 'tide', arguments: json } }],
      }
      return unary('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] })(seen, request)
    }
    const pieces = [json.slice(0, 5), json.slice(5)]
    return sse([
      chunk({ role: 'assistant', tool_calls: [start] }),
      ...pieces.map((piece) => chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
      chunk({}, 'tool_calls'),
      usageChunk(),
      DONE,
    ])
  }

test.each([false, true])(
  'exacto leaves an endpoint whose tool calls are invalid (streamed: %p)',
  async (stream) => {
    upstream.on('cheap', calling('{"place":"Brest"'))
    upstream.on('dear', calling('{"port":"Brest"}'))
    const parameters = { type: 'object', properties: { port: { type: 'string' } }, required: ['port'] }
    const tools = [{ type: 'function', function: { name: 'tide', parameters } }]
    for (let count = 0; count < 12; count++) await ask({ stream, tools, provider: { sort: 'exacto' } })
    const [first, second, ...rest] = asked()
    expect([first, second].toSorted()).toEqual(['cheap', 'dear'])
    // Each has three attempts before its figures count.
    const later = rest.slice(4)
    expect(rest.slice(0, 4).toSorted()).toEqual(['cheap', 'cheap', 'dear', 'dear'])
    expect(later).toEqual(Array(6).fill('dear'))
  },
)

test('a conversation without an id stays at the endpoint that answered it after a fail-over', async () => {
  upstream.on('dear', unary('Hello'))
  upstream.inTurn('cheap', [
    () => Response.json({ error: { message: 'down' } }, { status: 500 }),
    unary('Hello'),
  ])
  await ask({})
  await ask({ messages: turn })
  expect(asked()).toEqual(['cheap', 'dear', 'dear'])
  // Another conversation is distributed by price.
  await ask({ messages: [{ role: 'user', content: 'Good morning' }] })
  expect(asked().at(-1)).toBe('cheap')
  // The caller's sort comes first.
  await ask({ messages: turn, provider: { sort: 'price' } })
  expect(asked().at(-1)).toBe('cheap')
})
