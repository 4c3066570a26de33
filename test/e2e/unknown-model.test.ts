import { expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { gatewayOfFile, pricedEntries } from '../file-setup.ts'
import { startUpstream, unary } from '../upstream.ts'

/** Endpoints whose provider does not have the model: deployments that were deleted, names that were mistyped. */

let now = Date.parse('2026-11-20T12:00:00Z')
const upstream = startUpstream()
const logged: string[] = []
const entry = pricedEntries(upstream)
const gateway = await gatewayOfFile(
  {
    now: () => now,
    providers: [entry('empty', ['both', 'gone']), entry('well', ['both'])],
    log: (line) => logged.push(line),
  },
  upstream,
)

const ask = (model: string): Promise<Response> =>
  gateway.call('/chat/completions', {
    model,
    provider: { order: ['empty'] },
    messages: [{ role: 'user', content: 'Hi' }],
  })
const callsOf = (slug: string): number =>
  upstream.seen.filter(({ path }) => path.includes(`/${slug}/`)).length
const unknown = { message: 'The model `both` does not exist', type: 'invalid_request_error' }
for (const model of ['both', 'gone'])
  upstream.on(model, (seen, request) =>
    seen.path.includes('/empty/')
      ? Response.json({ error: { ...unknown, code: 'model_not_found' } }, { status: 404 })
      : unary('Hello')(seen, request),
  )

test('such an endpoint is called once a minute at most while another one answers, and logged once', async () => {
  for (let turn = 0; turn < 10; turn++) expect((await ask('both')).status).toBe(200)
  expect([callsOf('empty'), callsOf('well')]).toEqual([1, 10])
  now += 60_000
  for (let turn = 0; turn < 3; turn++) expect((await ask('both')).status).toBe(200)
  expect(callsOf('empty')).toBe(2)
  expect(logged.filter((line) => line.includes('does not know the model'))).toHaveLength(1)
  const { data } = objectOf(await (await gateway.manage('GET', '/endpoints/health')).json())
  expect(data).toMatchObject([
    {
      endpoint: 'empty/both',
      state: 'unknown_model',
      cause: 'empty (both) does not know the model "both" (HTTP 404)',
      next_probe_at: '2026-11-20T12:03:00.000Z',
    },
  ])
})

test('a change of the entries ends the rest', async () => {
  const before = callsOf('empty')
  const more = {
    slug: 'more',
    base_url: upstream.baseUrl,
    models: [{ id: 'more', pricing: { prompt: '0.000001', completion: '0.000002' } }],
  }
  expect((await gateway.manage('POST', '/providers/entries', more)).status).toBe(201)
  expect((await ask('both')).status).toBe(200)
  expect(callsOf('empty')).toBe(before + 1)
})

test('the last endpoint of a model is slowed, and every caller gets a 404 with a sentence', async () => {
  const before = callsOf('empty')
  const replies = []
  for (let turn = 0; turn < 4; turn++) {
    const reply = await ask('gone')
    replies.push([reply.status, objectOf(objectOf(await reply.json())['error'])['message']])
    if (turn === 1) now += 1_000
  }
  const own = [404, 'empty does not know the model of its endpoint for gone']
  expect(replies).toEqual([[404, unknown.message], own, [404, unknown.message], own])
  expect(callsOf('empty')).toBe(before + 2)
})
