/** Sentences that tell who is to do what. */
import { expect, test } from 'bun:test'
import { gatewayOfFile } from '../file-setup.ts'
import { startUpstream, unary } from '../upstream.ts'

let now = Date.now()

const upstream = startUpstream()
const models = ['limited', 'unrelated', 'refused'].map((id) => ({
  id,
  pricing: { prompt: '0', completion: '0' },
}))
const gateway = await gatewayOfFile(
  {
    now: () => now,
    providers: [{ slug: 'lab', name: 'Lab', base_url: upstream.baseUrl, api_key: 'secret', models }],
  },
  upstream,
)
gateway.deps.run.wait = async () => undefined

const ask = async (model: string, path = '/chat/completions') => {
  const body = { model, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }
  const reply = await gateway.call(path, body)
  return { status: reply.status, headers: reply.headers, text: await reply.text() }
}

test('a cool-down names its provider and model, and leaves other models of the provider alone', async () => {
  upstream.on('limited', () =>
    Response.json({ error: { message: 'slow' } }, { status: 429, headers: { 'retry-after': '30' } }),
  )
  upstream.on('unrelated', unary('Here I am'))
  expect((await ask('limited')).status).toBe(429)
  const cooling = await ask('limited')
  expect([cooling.status, cooling.text]).toEqual([
    429,
    expect.stringContaining("Lab's rate limit for limited is reached; retry in 30 s"),
  ])
  expect(cooling.headers.get('retry-after')).toBe('30')
  expect(cooling.headers.get('x-should-retry')).toBeNull()
  expect((await ask('unrelated')).status).toBe(200)
  now += 31_000
  upstream.on('limited', unary('Again'))
  expect((await ask('limited')).status).toBe(200)
})

test('a credential that stays refused is not sent again for any client', async () => {
  upstream.on('refused', () => Response.json({ error: { message: 'bad key' } }, { status: 401 }))
  const seen = new Set<string>()
  for (let time = 0; time < 30; time++) {
    const { status, headers, text } = await ask('refused', time % 2 === 0 ? '/chat/completions' : '/messages')
    seen.add(`${status} ${headers.get('x-should-retry')}`)
    expect(text).toContain("Lab rejected this gateway's credential")
  }
  // In the end the endpoint is left alone, and that says the same.
  expect([...seen].toSorted()).toEqual(['502 false', '503 false'])
})

test('a known model that no configured provider offers names the variable to set, its author first', async () => {
  const { status, text, headers } = await ask('anthropic/claude-sonnet-4.5')
  expect([status, headers.get('x-should-retry')]).toEqual([404, 'false'])
  expect(text).toMatch(
    /is known, but no provider that offers it is configured here\. Set ANTHROPIC_API_KEY \(or /,
  )
})

test.each([
  ['x-service-metadata', 'maybe', 'must be enabled or disabled'],
  ['x-openrouter-metadata', '1', 'must be enabled or disabled'],
  ['x-session-id', 'x'.repeat(300), 'at most 256 characters'],
])('a header %s of %s is refused by name', async (name, value, words) => {
  for (const path of ['/chat/completions', '/messages', '/responses']) {
    const conversation = { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 9 }
    const body = { model: 'sluice/demo', ...(path === '/responses' ? { input: 'Hi' } : conversation) }
    const reply = await gateway.call(path, body, { [name]: value })
    expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining(words)])
    expect(reply.headers.get('content-type')).toContain('application/json')
  }
})
