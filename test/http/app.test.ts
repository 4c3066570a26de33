import { expect, test } from 'bun:test'
import { newKey } from '../../src/core/keys.ts'
import { withEdge } from '../../src/http/edge.ts'
import { edgeDeps } from '../incoming.ts'
import { call, runScenarios, type Scenario } from '../scenario.ts'
import {
  answer,
  disabledKey,
  expiredKey,
  handler,
  inferenceKey,
  log,
  logged,
  managementKey,
  operatorKey,
} from './things.ts'

const statuses = [400, 401, 402, 403, 404, 405, 408, 409, 413, 429, 500, 502, 503, 524, 529]

const rows: Scenario[] = [
  // 401 is first
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
  // 403 is next
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
  { name: 'invalid reply header', path: '/bad-header', status: 500 },
  {
    name: 'reply that does not fit its schema',
    path: '/false-reply',
    status: 500,
    absent: ['hunter2', 'secret'],
  },
  ...statuses.map((status) => ({
    name: `GatewayError ${status}`,
    path: `/fail/${status}`,
    status,
    json: { error: { code: status, message: 'As thrown.', metadata: { error_type: 'server' } } },
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

test('every refused key gets the same reply, which clients do not retry', async () => {
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

test('a reply that does not fit its schema is logged without its values', async () => {
  logged.length = 0
  await call(handler, { path: '/false-reply' })
  expect(JSON.stringify(logged)).not.toContain('GET')
  expect(String(logged.map(({ fields }) => Object.values(fields)))).toContain('secret')
})

test('a server that stops refuses every request', async () => {
  const draining = withEdge(answer, edgeDeps(log), { isDraining: () => true })
  const reply = await call(draining, { path: '/things', key: inferenceKey })
  expect(reply.status).toBe(503)
  expect(reply.headers.get('retry-after')).toBe('5')
})

test('concurrent requests each have their own object in the context of their route', async () => {
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
