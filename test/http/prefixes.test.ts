import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import type { Handler } from '../../src/http/edge.ts'
import { objectOf } from '../../src/http/json.ts'
import { type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'

/** Every route is built once, below `/api/v1`, and answers below `/v1` all the same. */

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.stop())

const answerOf = async (app: Handler, method: string, path: string, headers: Record<string, string> = {}) => {
  const response = await app(
    new Request(`http://localhost${path}`, { method, headers: { host: 'localhost', ...headers } }),
  )
  const text = await response.text()
  return { status: response.status, allow: response.headers.get('allow'), text }
}

test.each(['', '/base'])('every operation of the document, below %p', async (basePath) => {
  const app = createApp(gateway.deps, basePath)
  const document = JSON.parse((await answerOf(app, 'GET', `${basePath}/openapi.json`)).text)
  const operations = Object.entries(objectOf(document.paths)).flatMap(([path, methods]) =>
    Object.keys(objectOf(methods)).map(
      (method) => [method.toUpperCase(), path.replace(/\{\w+\}/g, 'x')] as const,
    ),
  )
  expect(operations.length).toBeGreaterThan(100)
  for (const [method, path] of operations) {
    const [long, short] = await Promise.all(
      ['/api/v1', '/v1'].map((prefix) => answerOf(app, method, `${basePath}${prefix}${path}`)),
    )
    expect({ path, status: short?.status }).toEqual({ path, status: long?.status })
    expect(short?.text).not.toContain(`There is no ${method}`)
    expect([405, 500]).not.toContain(short?.status ?? 0)
  }
})

test.each([
  '/keys',
  '/keys/x',
  '/models/a/b',
  '/models/a/b/endpoints',
  '/files/x/content',
  '/chat/completions',
])('a wrong method on %s names the same methods below both', async (path) => {
  const app = createApp(gateway.deps, '/base')
  const [long, short] = await Promise.all(
    ['/base/api/v1', '/base/v1'].map((prefix) => answerOf(app, 'PURGE', prefix + path)),
  )
  expect(long).toMatchObject({ status: 405, allow: expect.any(String) })
  expect(short).toMatchObject({ status: 405, allow: long?.allow })
  expect(short?.text).toContain(`PURGE /base/v1${path} here`)
})

test('parameters and wildcards are read below both, and HEAD is answered', async () => {
  const app = createApp(gateway.deps)
  const headers = { authorization: `Bearer ${MANAGEMENT_KEY}` }
  for (const prefix of ['/api/v1', '/v1']) {
    expect((await answerOf(app, 'GET', `${prefix}/keys/not%2Fthere`, headers)).status).toBe(404)
    expect((await answerOf(app, 'HEAD', `${prefix}/keys`, headers)).status).toBe(200)
    expect((await answerOf(app, 'GET', `${prefix}/keys/`, headers)).status).toBe(200)
    expect((await answerOf(app, 'GET', `${prefix}/models/a%2Fb`, headers)).text).toContain('a/b')
  }
  expect((await answerOf(app, 'GET', '/v1x/keys', headers)).status).toBe(404)
  expect((await answerOf(app, 'GET', '/v1', headers)).status).toBe(404)
})
