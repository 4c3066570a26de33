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
