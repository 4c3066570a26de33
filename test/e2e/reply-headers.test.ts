import { expect, test } from 'bun:test'
import { gatewayOfFile } from '../file-setup.ts'
import { API_KEY, MANAGEMENT_KEY } from '../gateway.ts'
import { startUpstream, streamed, unary } from '../upstream.ts'

/** Every reply has an id and safe headers, each of them once, wherever the reply is made. */

const upstream = startUpstream()
upstream.on('whole', unary('Hello'))
upstream.on('large', unary('x'.repeat(100_000)))
upstream.on('pieces', streamed(['Hel', 'lo']))
upstream.on('broken', () => new Response('no', { status: 500 }))
const gateway = await gatewayOfFile(
  {
    listens: true,
    providers: [
      {
        slug: 'lab',
        dialect: 'chat',
        base_url: upstream.baseUrl,
        api_key: 'a-secret-of-the-provider-0123456789',
        models: ['whole', 'large', 'pieces', 'broken'].map((id) => ({
          id,
          pricing: { prompt: '0', completion: '0' },
        })),
      },
    ],
    environment: { SLUICE_CORS_ORIGINS: 'https://page.example' },
  },
  upstream,
)

const chat = (model: string, more: object = {}) => ({
  model,
  max_tokens: 10,
  messages: [{ role: 'user', content: 'Hi' }],
  ...more,
})
const responses = (model: string, more: object = {}) => ({ model, input: 'Hi', ...more })
const contents = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }

const rows: [
  name: string,
  path: string,
  body: unknown,
  status: number,
  cacheControl: string,
  key?: string,
][] = [
  ['chat', '/v1/chat/completions', chat('whole'), 200, 'no-store'],
  ['a large answer', '/v1/chat/completions', chat('large'), 200, 'no-store'],
  ['a stream', '/v1/chat/completions', chat('pieces', { stream: true }), 200, 'no-cache, no-transform'],
  ['completions', '/v1/completions', { model: 'whole', prompt: 'Hi' }, 200, 'no-store'],
  ['messages', '/v1/messages', chat('whole'), 200, 'no-store'],
  ['a stream of messages', '/v1/messages', chat('pieces', { stream: true }), 200, 'no-cache, no-transform'],
  ['count of tokens', '/v1/messages/count_tokens', chat('whole'), 200, 'no-store'],
  ['responses', '/v1/responses', responses('whole'), 200, 'no-store'],
  [
    'a stream of responses',
    '/v1/responses',
    responses('pieces', { stream: true }),
    200,
    'no-cache, no-transform',
  ],
  ['a background response', '/v1/responses', responses('whole', { background: true }), 200, 'no-store'],
  ['gemini', '/v1beta/models/whole:generateContent', contents, 200, 'no-store'],
  ['a failing provider', '/v1/chat/completions', chat('broken'), 502, 'no-store'],
  [
    'a failing provider of a stream',
    '/v1/chat/completions',
    chat('broken', { stream: true }),
    502,
    'no-store',
  ],
  ['a bad request', '/v1/chat/completions', { model: 7 }, 400, 'no-store'],
  ['a bad message', '/v1/messages', { model: 7 }, 400, 'no-store'],
  ['a wrong key', '/v1/chat/completions', chat('whole'), 401, 'no-store', 'x'.repeat(40)],
  ['no such route', '/v1/nothing', {}, 404, 'no-store'],
  ['administration', '/v1/key', undefined, 200, 'no-store'],
  ['a list', '/v1/keys', undefined, 200, 'no-store', MANAGEMENT_KEY],
  ['health', '/health/live', undefined, 200, 'no-store'],
  ['documentation', '/docs', undefined, 200, 'no-cache'],
  ['a path that is refused', '/v1//keys', undefined, 400, 'no-store'],
]

test.each(rows)('%s', async (_, path, body, status, cacheControl, key = API_KEY) => {
  const response = await fetch(gateway.url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, origin: 'https://page.example' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  await response.bytes()
  const { headers } = response
  expect(response.status).toBe(status)
  expect(headers.get('x-request-id')).toMatch(/^req-[0-9a-f]{32}$/)
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('cache-control')).toBe(cacheControl)
  expect(headers.get('content-type')).toMatch(/^[a-z]+\/[a-z-]+(; ?charset=utf-8)?$/)
  expect(headers.get('access-control-allow-origin')).toBe('https://page.example')
  expect(headers.get('access-control-expose-headers')).toContain('x-request-id')
  if (path.startsWith('/v1/messages')) expect(headers.get('request-id')).toBe(headers.get('x-request-id'))
})
