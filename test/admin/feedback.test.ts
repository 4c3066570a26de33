import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { newGenerationId } from '../../src/core/ids.ts'
import { hashKey } from '../../src/core/keys.ts'
import type { Handler } from '../../src/http/edge.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { call, type Reply, runScenarios, type Scenario } from '../scenario.ts'
import { addWorkspace, spend } from './fixtures.ts'

let gateway: Gateway
let handler: Handler
let id = ''
let otherKey = ''

beforeAll(async () => {
  gateway = await startGateway()
  handler = createApp(gateway.deps)
  otherKey = (await addWorkspace(gateway)).key
  id = await spend(gateway, hashKey(API_KEY), 1)
})
afterAll(() => gateway.stop())

const say = (key: string, body: object): Promise<Reply> =>
  call(handler, { method: 'POST', path: '/api/v1/generation/feedback', key, body })
const content = (key: string, of: string): Promise<Reply> =>
  call(handler, { path: `/api/v1/generation/content?id=${of}`, key })

const refused = (name: string, body: unknown, words: string): Scenario => ({
  name,
  method: 'POST',
  path: '/v1/generation/feedback',
  key: API_KEY,
  body,
  status: 400,
  contains: [words],
})
runScenarios('feedback and content', () => handler, [
  { name: 'feedback without a key', method: 'POST', path: '/v1/generation/feedback', body: '{', status: 401 },
  refused('no generation', { category: 'other' }, 'generation_id'),
  refused('an empty generation', { generation_id: '', category: 'other' }, 'generation_id'),
  refused('an unknown category', { generation_id: 'x', category: 'praise' }, 'category'),
  refused('a long comment', { generation_id: 'x', category: 'other', comment: 'a'.repeat(1001) }, 'comment'),
  refused('an unknown field', { generation_id: 'x', category: 'other', rating: 1 }, 'rating'),
  { name: 'content without a key', path: '/v1/generation/content?id=x', status: 401 },
  {
    name: 'content without an id',
    path: '/v1/generation/content',
    key: API_KEY,
    status: 400,
    contains: ['id'],
  },
])

test('feedback on a generation of the same workspace is stored', async () => {
  const body = { generation_id: id, category: 'incoherence', comment: 'a'.repeat(1000) }
  expect((await say(API_KEY, body)).json).toEqual({ data: { success: true } })
  expect((await say(MANAGEMENT_KEY, { generation_id: id, category: 'billing' })).status).toBe(200)
  const rows = gateway.database.file.query('SELECT * FROM generation_feedback ORDER BY id').all()
  const { defaultWorkspaceId } = gateway.deps.snapshot.current()
  expect(rows).toMatchObject([
    {
      generation_id: id,
      workspace_id: defaultWorkspaceId,
      key_hash: hashKey(API_KEY),
      category: 'incoherence',
      comment: body.comment,
    },
    { generation_id: id, key_hash: hashKey(MANAGEMENT_KEY), category: 'billing', comment: null },
  ])
})

test('another workspace learns nothing of a generation', async () => {
  const unknown = newGenerationId()
  const replies = [
    await say(otherKey, { generation_id: id, category: 'other' }),
    await say(otherKey, { generation_id: unknown, category: 'other' }),
    await content(otherKey, id),
    await content(otherKey, unknown),
  ]
  for (const reply of replies) {
    expect(reply).toMatchObject({
      status: 404,
      json: { error: { message: 'There is no generation with this id' } },
    })
  }
})

test('content that is missing is a 404 with its reason, for callers who may see the generation', async () => {
  for (const key of [API_KEY, MANAGEMENT_KEY]) {
    const reply = await content(key, id)
    expect([reply.status, reply.text]).toEqual([404, expect.stringContaining('not logged')])
    expect(reply.text).toContain('is_observability_io_logging_enabled')
  }
})
