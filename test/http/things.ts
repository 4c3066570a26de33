/** An application with one resource and routes that fail in every way, behind the edge of the gateway. */
import { Elysia, t } from 'elysia'
import { GatewayError } from '../../src/core/errors.ts'
import { newKey } from '../../src/core/keys.ts'
import { callerOption } from '../../src/http/caller.ts'
import { withEdge } from '../../src/http/edge.ts'
import { errorEnvelope } from '../../src/http/envelope.ts'
import { createApplication } from '../../src/http/incoming.ts'
import { edgeDeps } from '../incoming.ts'
import { keyRecordOf, snapshotOf } from './snapshots.ts'

const NOW = Date.UTC(2026, 0, 15)
export const inferenceKey = newKey('inference')
export const managementKey = newKey('management')
export const disabledKey = newKey('inference')
export const expiredKey = newKey('inference')
export const operatorKey = 'operator:chosen/key-with~32+chars!'
export const logged: { fields: object; message: string }[] = []
export const log = { error: (fields: object, message: string) => void logged.push({ fields, message }) }

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

const application = createApplication('')
export const { answer } = application
application.app
  .use(errorEnvelope(log))
  .use(things)
  .get('/fail/:status', ({ params }) => {
    throw new GatewayError(Number(params.status), 'As thrown.', {
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

export const handler = withEdge(answer, edgeDeps(log), { isDraining: () => false })
