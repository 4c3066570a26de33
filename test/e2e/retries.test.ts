import { describe, expect, test } from 'bun:test'
import { gatewayOfFile, pricedEntries } from '../file-setup.ts'
import { startUpstream, unary } from '../upstream.ts'

/** How often providers are called for a request that they refuse: credentials, and the budget of retries. */

const SECRETS = ['sk-one', 'sk-two', 'sk-three', 'sk-four']
const MODELS = Array.from({ length: 60 }, (_, index) => `down-${index}`)

const WELL = Array.from({ length: 20 }, (_, index) => `well-${index}`)

const now = Date.parse('2026-11-20T12:00:00Z')
const upstream = startUpstream()
const entry = pricedEntries(upstream)
const gateway = await gatewayOfFile(
  {
    now: () => now,
    boundsRetries: true,
    providers: [
      { ...entry('one', [...MODELS, ...WELL]), api_key: 'sk-1' },
      { ...entry('two', [...MODELS, ...WELL]), api_key: 'sk-2' },
    ],
    credentials: SECRETS.map((secret) => ({ provider: 'openai', baseUrl: upstream.baseUrl, secret })),
  },
  upstream,
)
gateway.deps.run.wait = async () => undefined

const ask = async (model: string, provider = {}): Promise<number> => {
  const body = { model, provider, messages: [{ role: 'user', content: 'Hi' }] }
  return (await gateway.call('/chat/completions', body)).status
}
const shown = () => upstream.seen.map(({ headers }) => headers.get('authorization')?.replace('Bearer ', ''))

describe('the credentials of an endpoint', () => {
  test('are tried until one is accepted; the refused ones are not tried again', async () => {
    upstream.on('gpt-4o-mini', (seen, request) =>
      seen.headers.get('authorization') === 'Bearer sk-four'
        ? unary('Hello')(seen, request)
        : Response.json({ error: { message: 'revoked' } }, { status: 401 }),
    )
    expect(await ask('openai/gpt-4o-mini')).toBe(200)
    expect(shown()).toEqual(SECRETS)
    expect(await ask('openai/gpt-4o-mini')).toBe(200)
    expect(shown().slice(4)).toEqual(['sk-four'])
  })
})

test('60 requests to 60 models with everything down make at most a fifth more calls, and 3', async () => {
  upstream.seen.length = 0
  for (const model of MODELS) {
    // A 503 of several models would shut their credential.
    upstream.on(model, () => new Response('down', { status: 500 }))
    expect(await ask(model)).toBe(502)
  }
  // Three of the retries were made above.
  expect(upstream.seen.length).toBeGreaterThan(60)
  expect(upstream.seen.length).toBeLessThanOrEqual(60 + 12 + 3)
})

test('callers get answers as long as one provider is well, however many retries there were', async () => {
  for (const model of WELL) {
    upstream.on(model, (seen, request) =>
      seen.path.includes('/one/') ? new Response('down', { status: 503 }) : unary('Hello')(seen, request),
    )
  }
  const body = { model: WELL[0], messages: [{ role: 'user', content: 'Hi' }], provider: { only: ['two'] } }
  expect((await gateway.call('/chat/completions', body)).status).toBe(200)
  for (const model of WELL) expect(await ask(model, { order: ['one', 'two'] })).toBe(200)
})
