import { expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { API_KEY } from '../gateway.ts'
import { call } from '../scenario.ts'

const gateway = await gatewayOfFile()
const handler = createApp(gateway.deps)

// The methods that the API document has for the path: a wildcard beside it adds none.
test.each([
  ['/models', 'GET, HEAD'],
  ['/models/count', 'GET, HEAD'],
  ['/models/openai/gpt-5', 'GET, HEAD'],
  ['/models/openai/gpt-5/endpoints', 'GET, HEAD'],
  ['/models/overrides', 'GET, HEAD, PUT'],
  ['/models/overrides/x', 'DELETE'],
  ['/models/gemini-2.5-pro:generateContent', 'POST'],
  ['/models/google/gemini-2.5-pro:countTokens', 'POST'],
  ['/keys', 'GET, HEAD, POST'],
  ['/responses/compact', 'POST'],
  ['/responses/resp_1', 'DELETE, GET, HEAD'],
])('a wrong method on %s is a 405 that allows %s', async (path, allow) => {
  const reply = await call(handler, { method: 'OPTIONS', path: `/api/v1${path}`, key: API_KEY })
  expect([reply.status, reply.headers.get('allow')]).toEqual([405, allow])
})

// The handshake of Codex 0.169.0 whose `openai_base_url` is the gateway's.
test('a WebSocket on a path of requests is a 426, after which Codex uses HTTP at once', async () => {
  const handshake = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'openai-beta': 'responses_websockets=2026-02-06',
  }
  const ask = (path: string) => call(handler, { method: 'GET', path, key: API_KEY, headers: handshake })
  const reply = await ask('/v1/responses')
  expect([reply.status, reply.headers.get('allow'), reply.headers.get('upgrade')]).toEqual([
    426,
    'POST',
    'HTTP/1.1',
  ])
  expect((await ask('/v1/nothing')).status).toBe(404)
})
