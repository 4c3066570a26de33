import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Gateway, startGateway } from '../gateway.ts'
import {
  freshToken,
  makeKeyPair,
  startTokenEndpoint,
  type TokenEndpoint,
} from '../providers/token-endpoint.ts'
import { FIXTURES } from '../recordings.ts'
import { dataLines, unary } from '../upstream.ts'

/** Azure and Vertex behind POST /chat/completions, with tokens that are got on the way. */

interface Seen {
  path: string
  authorization: string | null
  headers: Headers
  body: Record<string, unknown>
}

const PRICING = { prompt: '0.000001', completion: '0.000002' }
const seen: Seen[] = []
let answer: (seen: Seen) => Response | Promise<Response> = () => new Response(null, { status: 500 })
let server: Bun.Server<undefined>
let tokens: TokenEndpoint
let gateway: Gateway
const now = 1_800_000_000_000
let logged = ''

beforeAll(async () => {
  const { pem } = await makeKeyPair()
  tokens = startTokenEndpoint()
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const entry = {
        path: pathname + search,
        authorization: request.headers.get('authorization'),
        headers: request.headers,
        body: await request.json(),
      }
      seen.push(entry)
      return answer(entry)
    },
  })
  const base = `http://127.0.0.1:${server.port}`
  const account = {
    type: 'service_account',
    client_email: 'gateway@lab.iam.gserviceaccount.com',
    private_key: pem,
    token_uri: `${tokens.url}/google`,
  }
  const entra = {
    tenant_id: 'tenant-1',
    client_id: 'client-1',
    client_secret: 'canary-of-entra',
    authority_host: tokens.url,
  }
  gateway = await startGateway({
    now: () => now,
    environment: { ACCOUNT: JSON.stringify(account) },
    providers: [
      {
        slug: 'cloud-a',
        base_url: `${base}/a`,
        azure: { ...entra, api_version: '2024-10-21' },
        models: [
          { id: 'gpt', upstream_id: 'our-gpt', pricing: PRICING },
          { id: 'shared', upstream_id: 'not-there', pricing: PRICING },
        ],
      },
      {
        slug: 'cloud-b',
        base_url: `${base}/b`,
        azure: entra,
        models: [{ id: 'refused', pricing: PRICING }],
      },
      {
        slug: 'cloud-c',
        base_url: `${base}/c`,
        azure: { ...entra, api_version: '2024-10-21' },
        models: [{ id: 'counted', upstream_id: 'our-gpt', pricing: PRICING }],
      },
      {
        slug: 'cloud-v',
        base_url: `${base}/v1`,
        vertex: { project: 'lab', location: 'global', service_account: '${ACCOUNT}' },
        models: [
          { id: 'gemini-3-pro', pricing: PRICING },
          { id: 'claude', upstream_id: 'claude-sonnet-4-5@20250929', pricing: PRICING },
        ],
      },
      { slug: 'plain', base_url: `${base}/plain`, models: [{ id: 'shared', pricing: { prompt: '0.01' } }] },
    ],
  })
  gateway.deps.run.wait = async () => undefined
  for (const level of ['info', 'warn', 'error'] as const) {
    gateway.deps.log[level] = (...values: unknown[]) => {
      logged += Bun.inspect(values)
    }
  }
})
afterAll(async () => {
  await gateway.stop()
  await server.stop(true)
  await tokens.stop()
})
beforeEach(() => {
  seen.length = 0
  tokens.seen.length = 0
  tokens.answer = freshToken
})

const fixture = (path: string) => async (): Promise<Response> =>
  new Response(await Bun.file(join(FIXTURES, path)).bytes(), {
    headers: { 'content-type': path.endsWith('.sse') ? 'text/event-stream' : 'application/json' },
  })
const ask = (model: string, more: Record<string, unknown> = {}) => ({
  model,
  messages: [{ role: 'user', content: 'Hello' }],
  ...more,
})
const call = (body: Record<string, unknown>) => gateway.call('/chat/completions', body)
const textOf = async (response: Response): Promise<string> => {
  const lines = await dataLines(response)
  expect(lines.at(-1)).toBe('[DONE]')
  return lines
    .slice(0, -1)
    .flatMap((line) => JSON.parse(line).choices)
    .map(({ delta }) => delta.content ?? '')
    .join('')
}

test('Azure: one token for many calls, at the path of the deployment', async () => {
  answer = (each) => unary('Hi')({ ...each }, new Request('http://x.example'))
  const replies = await Promise.all([1, 2, 3].map(() => call(ask('counted', { max_tokens: 9 }))))
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(tokens.seen.map(({ path }) => path)).toEqual(['/tenant-1/oauth2/v2.0/token'])
  expect(new Set(seen.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer token-1']))
  expect(seen[0]?.path).toBe('/c/openai/deployments/our-gpt/chat/completions?api-version=2024-10-21')
  expect(seen[0]?.body).toMatchObject({ model: 'our-gpt', max_completion_tokens: 9 })
})

test('Azure: the first chunk without choices, and marks of its filter', async () => {
  answer = fixture('chat/azure-text.sse')
  const text = await textOf(await call(ask('gpt', { stream: true })))
  expect(text).not.toBe('')
})

test('Azure: a filtered prompt is about content', async () => {
  answer = async () =>
    Response.json(await Bun.file(join(FIXTURES, 'chat/azure-filtered-prompt.json')).json(), { status: 400 })
  const response = await call(ask('gpt'))
  expect(response.status).toBe(400)
  expect((await response.json()).error.metadata.error_type).toBe('content_policy_violation')
})

test('Azure: a model that is not deployed there is requested elsewhere', async () => {
  answer = (each) =>
    each.path.startsWith('/plain')
      ? unary('Hi')({ ...each }, new Request('http://x.example'))
      : Response.json({ error: { code: 'DeploymentNotFound', message: 'no' } }, { status: 404 })
  const response = await call(ask('shared'))
  expect((await response.json()).provider).toBe('plain')
})

test('a token that the provider refuses is not shown again', async () => {
  answer = () =>
    seen.length === 1
      ? Response.json({ error: { code: '401', message: 'expired' } }, { status: 401 })
      : unary('Hi')({ path: '', headers: new Headers(), body: {} }, new Request('http://x.example'))
  expect((await call(ask('gpt'))).status).toBe(502)
  tokens.answer = () => Response.json({ access_token: 'token-after', expires_in: 3600 })
  expect((await call(ask('gpt'))).status).toBe(200)
  expect(seen[0]?.authorization).not.toBe('Bearer token-after')
  expect(seen[1]?.authorization).toBe('Bearer token-after')
})

test.each([
  ['a refusal', () => Response.json({ error: 'invalid_client' }, { status: 401 }), 502],
  ['a broken endpoint', () => new Response('canary-of-entra', { status: 500 }), 502],
  ['no token', () => new Response('<html>canary-of-entra</html>'), 502],
])('a token that cannot be got is the provider’s failure: %s', async (_, refuse, status) => {
  tokens.answer = refuse
  const response = await call(ask('refused'))
  const values = await response.text()
  expect(response.status).toBe(status)
  expect(JSON.parse(values).error.metadata.error_type).toBe('provider_unavailable')
  expect(seen).toEqual([])
  expect(values + logged).not.toContain('canary-of-entra')
})

test('Vertex: Gemini, streamed, with calls', async () => {
  answer = fixture('gemini/parallel-tools.sse')
  const tools = [{ type: 'function', function: { name: 'tide' } }]
  const lines = await dataLines(await call(ask('gemini-3-pro', { stream: true, tools })))
  expect(lines.at(-1)).toBe('[DONE]')
  const finishes = lines
    .slice(0, -1)
    .flatMap((line) => JSON.parse(line).choices)
    .flatMap(({ finish_reason }) => finish_reason ?? [])
  expect(finishes).toEqual(['tool_calls'])
  expect(seen[0]?.path).toBe(
    '/v1/projects/lab/locations/global/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse',
  )
  expect(seen[0]?.authorization).toStartWith('Bearer token-')
  expect(seen[0]?.headers.get('x-goog-api-key')).toBeNull()
})

test('Vertex: Claude, streamed and at once', async () => {
  answer = fixture('messages/text.sse')
  expect(await textOf(await call(ask('claude', { stream: true })))).toBe(
    'Grüße aus der Werkstatt 🛠 und zurück',
  )
  const models = '/v1/projects/lab/locations/global/publishers/anthropic/models'
  expect(seen[0]?.path).toBe(`${models}/claude-sonnet-4-5@20250929:streamRawPredict`)
  expect(seen[0]?.body).toMatchObject({ anthropic_version: 'vertex-2023-10-16', stream: true })
  expect(seen[0]?.body['model']).toBeUndefined()
  expect(seen[0]?.headers.get('anthropic-version')).toBeNull()
  answer = fixture('messages/cached.json')
  expect((await call(ask('claude'))).status).toBe(200)
  expect(seen[1]?.path).toBe(`${models}/claude-sonnet-4-5@20250929:rawPredict`)
})
