import { expect, test } from 'bun:test'
import { Elysia, t } from 'elysia'
import { GatewayError } from '../../src/core/errors.ts'
import { newKey } from '../../src/core/keys.ts'
import { callerOption } from '../../src/http/caller.ts'
import { withEdge } from '../../src/http/edge.ts'
import { errorEnvelope } from '../../src/http/envelope.ts'
import { createApplication } from '../../src/http/incoming.ts'
import { edgeDeps } from '../incoming.ts'
import { call, runScenarios, type Scenario } from '../scenario.ts'
import { keyRecordOf, snapshotOf } from './snapshots.ts'

const NOW = Date.UTC(2026, 0, 15)
const inferenceKey = newKey('inference')
const managementKey = newKey('management')
const disabledKey = newKey('inference')
const expiredKey = newKey('inference')
const operatorKey = 'operator:chosen/key-with~32+chars!'
const logged: { fields: object; message: string }[] = []
const log = { error: (fields: object, message: string) => void logged.push({ fields, message }) }

const snapshot = snapshotOf([
  keyRecordOf(inferenceKey),
  keyRecordOf(managementKey, { kind: 'management' }),
  keyRecordOf(disabledKey, { disabled: true }),
  keyRecordOf(expiredKey, { expiresAt: NOW }),
  keyRecordOf(operatorKey),
])

const things = new Elysia({ prefix: '/things' })
  .use(callerOption({ snapshot: { current: () => snapshot }, now: () => NOW, addressOf: () => null }))
  .post('', ({ body, caller }) => ({ name: body.name, label: caller.key.label }), {
    caller: 'management',
    body: t.Object(
      {
        name: t.String({ minLength: 1, maxLength: 20 }),
        limit: t.Optional(t.Union([t.Number({ minimum: 0 }), t.Null()])),
        reset: t.Optional(t.Union([t.Literal('daily'), t.Literal('weekly'), t.Null()])),
        nested: t.Optional(t.Array(t.Object({ 'a/b': t.Boolean() }))),
      },
      { additionalProperties: false },
    ),
  })
  .get('', ({ query }) => ({ page: query.page ?? null }), {
    caller: 'any',
    query: t.Object(
      { page: t.Optional(t.String({ pattern: '^[1-9]$', expects: 'an integer from 1 to 9' })) },
      { additionalProperties: true },
    ),
  })
  .get('/:id', ({ params }) => ({ id: params.id }), { caller: 'inference' })
  .delete('/:id', () => ({ deleted: true }), { caller: 'management' })

const statuses = [400, 401, 402, 403, 404, 405, 408, 409, 413, 429, 500, 502, 503, 524, 529]

const { app, answer } = createApplication('')
app
  .use(errorEnvelope(log))
  .use(things)
  .get('/fail/:status', ({ params }) => {
    throw new GatewayError(Number(params.status), 'As told.', {
      cause: new Error('private'),
      metadata: { error_type: 'server' },
      headers: { 'retry-after': '7' },
    })
  })
  .get('/boom', () => {
    throw new Error('password is hunter2')
  })
  .get('/rejected', () => Promise.reject({ secret: 'hunter2' }))
  .get('/bad-header', () => new Response('x', { headers: { bad: 'a\nb' } }))
  .get('/false-reply', ({ request }) => ({ secret: request.method }), {
    response: { 200: t.Object({ secret: t.String({ maxLength: 1 }) }) },
  })
  .get('/incoming/:index', async ({ incoming }) => {
    await Bun.sleep(1)
    return { id: incoming.id, path: incoming.path }
  })
  .get('/html', () => new Response('<p>', { headers: { 'cache-control': 'public, max-age=60' } }))

const handler = withEdge(answer, edgeDeps(log), { isDraining: () => false })

const rows: Scenario[] = [
  // 401 before all else
  { name: 'no key', path: '/things', status: 401, contains: ['Missing API key'] },
  { name: 'no key, malformed JSON', method: 'POST', path: '/things', body: '{nope', status: 401 },
  { name: 'no key, bad query', path: '/things?page=x', status: 401 },
  { name: 'no key, DELETE', method: 'DELETE', path: '/things/1', status: 401 },
  { name: 'unknown key', path: '/things', key: newKey('inference'), status: 401 },
  { name: 'disabled key', path: '/things', key: disabledKey, status: 401 },
  { name: 'key that expires now', path: '/things', key: expiredKey, status: 401 },
  { name: 'key with a mistyped letter', path: '/things', key: mistyped(inferenceKey), status: 401 },
  { name: 'operator key', path: '/things', key: operatorKey, status: 200 },
  { name: 'Basic scheme', path: '/things', headers: { authorization: `Basic ${inferenceKey}` }, status: 401 },
  {
    name: 'lower-case scheme',
    path: '/things',
    headers: { authorization: `bearer ${inferenceKey}` },
    status: 200,
  },
  {
    name: 'two keys',
    path: '/things',
    headers: { authorization: `Bearer ${inferenceKey}, Bearer ${inferenceKey}` },
    status: 401,
    replyHeaders: { 'www-authenticate': 'Bearer' },
  },
  // then 403
  {
    name: 'wrong kind',
    method: 'POST',
    path: '/things',
    key: inferenceKey,
    body: { name: 'a' },
    status: 403,
    contains: ['management'],
  },
  {
    name: 'wrong kind, malformed JSON',
    method: 'POST',
    path: '/things',
    key: inferenceKey,
    body: '{nope',
    status: 403,
  },
  {
    name: 'wrong kind, DELETE',
    method: 'DELETE',
    path: '/things/1',
    key: inferenceKey,
    status: 403,
    contains: ['management'],
  },
  {
    name: 'management key on inference',
    path: '/things/1',
    key: managementKey,
    status: 403,
    contains: ['management'],
  },
  // then 400
  {
    name: 'malformed JSON',
    method: 'POST',
    path: '/things',
    key: managementKey,
    body: '{"name": "hunter2"',
    status: 400,
    contains: ['malformed JSON'],
    absent: ['hunter2'],
  },
  { name: 'no body', method: 'POST', path: '/things', key: managementKey, status: 400, contains: ['empty'] },
  {
    name: 'array body',
    method: 'POST',
    path: '/things',
    key: managementKey,
    body: [],
    status: 400,
    contains: ['JSON object, not an array'],
  },
  { name: 'null body', method: 'POST', path: '/things', key: managementKey, body: 'null', status: 400 },
  {
    name: 'unknown field',
    method: 'POST',
    path: '/things',
    key: managementKey,
    body: { name: 'a', limt: 'hunter2' },
    status: 400,
    contains: ['limt: is not known here; known are name, limit, reset, nested'],
    absent: ['hunter2'],
  },
  {
    name: 'missing field',
    method: 'POST',
    path: '/things',
    key: managementKey,
    body: {},
    status: 400,
    contains: ['name: is required'],
  },
  {
    name: 'empty name',
    method: 'POST',
    path: '/things',
    key: managementKey,
    body: { name: '' },
    status: 400,
    contains: ['name: must be a string of 1 to 20 characters'],
  },
  {
    name: 'number as text',
    method: 'POST',
    path: '/things',
    key: managementKey,
    body: { name: 'a', limit: '1' },
    status: 400,
    contains: ['limit: must be a number of at least 0 or null'],
  },
  {
    name: 'unknown word',
    method: 'POST',
    path: '/things',
    key: managementKey,
    body: { name: 'a', reset: 'hunter2' },
    status: 400,
    contains: ['reset: must be one of \\"daily\\", \\"weekly\\" or null'],
    absent: ['hunter2'],
  },
  {
    name: 'nested place',
    method: 'POST',
    path: '/things',
    key: managementKey,
    body: { name: 'a', nested: [{ 'a/b': true }, { 'a/b': 1 }] },
    status: 400,
    contains: ['nested[1].a/b: must be true or false'],
  },
  {
    name: 'several problems',
    method: 'POST',
    path: '/things',
    key: managementKey,
    body: { name: 1, limit: -1 },
    status: 400,
    contains: ['name: ', '; limit: '],
  },
  {
    name: 'bad query',
    path: '/things?page=10',
    key: inferenceKey,
    status: 400,
    contains: ['query parameter page: must be an integer from 1 to 9'],
  },
  {
    name: 'unknown query parameter',
    path: '/things?page=3&utm=1',
    key: inferenceKey,
    status: 200,
    json: { page: '3' },
  },
  {
    name: 'content type in other case',
    method: 'POST',
    path: '/things',
    key: managementKey,
    headers: { 'content-type': 'Application/JSON; charset=UTF-8' },
    body: '{"name":"a"}',
    status: 200,
  },
  {
    name: 'no content type',
    method: 'POST',
    path: '/things',
    key: managementKey,
    body: new Blob(['{"name":"a"}']),
    status: 200,
  },
  {
    name: 'form content type',
    method: 'POST',
    path: '/things',
    key: managementKey,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: '{"name":"a"}',
    status: 400,
    contains: ['application/json'],
  },
  {
    name: 'gzip',
    method: 'POST',
    path: '/things',
    key: managementKey,
    headers: { 'content-encoding': 'gzip' },
    body: '{"name":"a"}',
    status: 400,
    contains: ['Content-Encoding'],
  },
  {
    name: 'body of 1 MB and a byte',
    method: 'POST',
    path: '/things',
    key: managementKey,
    body: ' '.repeat(1_000_001),
    status: 413,
    contains: ['1 MB'],
  },
  {
    name: 'DELETE with a malformed body',
    method: 'DELETE',
    path: '/things/1',
    key: managementKey,
    headers: { 'content-type': 'application/json' },
    body: '{nope',
    status: 200,
  },
  // routes
  {
    name: 'unknown route',
    path: '/nothing/here?key=hunter2',
    status: 404,
    contains: ['GET /nothing/here'],
    absent: ['hunter2'],
  },
  {
    name: 'wrong method',
    method: 'PUT',
    path: '/things',
    status: 405,
    contains: ['GET, HEAD, POST'],
    replyHeaders: { allow: 'GET, HEAD, POST' },
  },
  {
    name: 'wrong method, parameter',
    method: 'POST',
    path: '/things/7',
    status: 405,
    replyHeaders: { allow: 'DELETE, GET, HEAD' },
  },
  { name: 'route in other case', path: '/Things', status: 404 },
  { name: 'encoded route', path: '/%74hings', status: 404 },
  { name: 'doubled slash', path: '/x//things', status: 400, contains: ['two slashes'] },
  // failures
  { name: 'throwing handler', path: '/boom', status: 500, absent: ['hunter2'] },
  { name: 'rejecting handler', path: '/rejected', status: 500, absent: ['hunter2'] },
  { name: 'impossible reply header', path: '/bad-header', status: 500 },
  { name: 'reply of a false form', path: '/false-reply', status: 500, absent: ['hunter2', 'secret'] },
  ...statuses.map((status) => ({
    name: `GatewayError ${status}`,
    path: `/fail/${status}`,
    status,
    json: { error: { code: status, message: 'As told.', metadata: { error_type: 'server' } } },
    absent: ['private'],
    replyHeaders: { 'retry-after': '7', 'cache-control': 'no-store' },
  })),
  {
    name: 'own cache-control',
    path: '/html',
    status: 200,
    replyHeaders: { 'cache-control': 'public, max-age=60', 'x-content-type-options': 'nosniff' },
  },
  // hosts
  ...['x/#@evil', 'a@b', 'a, b', '', 'x\\y', 'a b', 'a:b', '[::1', 'a:123456', 'a:65536', 'ü'].map(
    (host) => ({
      name: `Host ${JSON.stringify(host)}`,
      path: '/things',
      headers: { host: new TextDecoder('latin1').decode(new TextEncoder().encode(host)) },
      status: 400,
      contains: ['Host'],
    }),
  ),
  ...['localhost:4141', 'a', 'my_service:80', 'a:65535', '127.0.0.1', '[::1]:4141', 'x.example.'].map(
    (host) => ({
      name: `Host ${JSON.stringify(host)}`,
      path: '/things',
      headers: { host },
      key: inferenceKey,
      status: 200,
    }),
  ),
]

runScenarios('every request', () => handler, rows)

test('all refusals of keys are the same words, and no client sends them again', async () => {
  const keys = [
    'short',
    newKey('inference'),
    newKey('management'),
    disabledKey,
    expiredKey,
    mistyped(inferenceKey),
  ]
  const replies = await Promise.all(keys.map((key) => call(handler, { path: '/things', key })))
  expect(new Set(replies.map((reply) => `${reply.status} ${reply.text}`)).size).toBe(1)
  expect(replies.map(({ headers }) => headers.get('x-should-retry'))).toEqual(keys.map(() => 'false'))
})

test('private causes of 5xx go to the log, with the request id of the reply', async () => {
  logged.length = 0
  const reply = await call(handler, { path: '/boom' })
  expect(logged).toHaveLength(1)
  expect(logged[0]?.fields).toMatchObject({
    request_id: reply.headers.get('x-request-id'),
    err: { message: 'password is hunter2' },
  })
})

test('a reply of a false form is logged without what it held', async () => {
  logged.length = 0
  await call(handler, { path: '/false-reply' })
  expect(JSON.stringify(logged)).not.toContain('GET')
  expect(String(logged.map(({ fields }) => Object.values(fields)))).toContain('secret')
})

test('a server that stops refuses everything', async () => {
  const draining = withEdge(answer, edgeDeps(log), { isDraining: () => true })
  const reply = await call(draining, { path: '/things', key: inferenceKey })
  expect(reply.status).toBe(503)
  expect(reply.headers.get('retry-after')).toBe('5')
})

test('requests at once have each their own object in the context of their route', async () => {
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, index) => call(handler, { path: `/incoming/${index}?x` })),
  )
  for (const [index, { headers, json }] of replies.entries())
    expect(json).toEqual({ id: headers.get('x-request-id'), path: `/incoming/${index}` })
})

test('ids of requests differ', async () => {
  const replies = await Promise.all([1, 2, 3].map(() => call(handler, { path: '/html' })))
  expect(new Set(replies.map((reply) => reply.headers.get('x-request-id'))).size).toBe(3)
})

function mistyped(key: string): string {
  const last = key.at(-1) === 'a' ? 'b' : 'a'
  return key.slice(0, -1) + last
}
