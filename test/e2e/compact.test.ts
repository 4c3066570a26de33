/** POST /responses/compact, by the openai package. */
import { beforeEach, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { gatewayOfFile } from '../file-setup.ts'
import { API_KEY } from '../gateway.ts'
import { misfits } from '../sdk-types/checker.ts'
import { startUpstream, unary } from '../upstream.ts'

let client: OpenAI
const pricing = { prompt: '0.000001', completion: '0.000002' }
const COMPACTED = [
  {
    type: 'message',
    id: 'msg_1',
    role: 'user',
    status: 'completed',
    content: [{ type: 'input_text', text: 'Hi' }],
  },
  { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAAA-compacted' },
]

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    listens: true,
    providers: [
      {
        slug: 'lab',
        name: 'Lab',
        dialect: ['chat', 'responses'],
        base_url: upstream.baseUrl,
        models: [{ id: 'gpt-5.4', pricing }],
      },
      { slug: 'plain', name: 'Plain', base_url: upstream.baseUrl, models: [{ id: 'chatty', pricing }] },
    ],
  },
  upstream,
)
gateway.deps.run.wait = async () => undefined
client = new OpenAI({ apiKey: API_KEY, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
upstream.on('gpt-5.4', (seen, request) =>
  seen.path === '/v1/responses/compact'
    ? Response.json({
        id: 'resp_up',
        object: 'response.compaction',
        created_at: 1,
        output: COMPACTED,
        usage: {
          input_tokens: 100,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: 40,
          output_tokens_details: { reasoning_tokens: 10 },
          total_tokens: 140,
        },
      })
    : unary('no')(seen, request),
)
beforeEach(() => {
  upstream.seen.length = 0
})

test('is forwarded, metered and settled', async () => {
  const compacted = await client.responses.compact({
    model: 'gpt-5.4',
    instructions: 'Be brief.',
    input: [{ role: 'user', content: 'Hi' }],
  })
  expect<unknown>(compacted.output).toEqual(COMPACTED)
  expect(compacted.object).toBe('response.compaction')
  expect(compacted.usage).toMatchObject({ input_tokens: 100, output_tokens: 40, total_tokens: 140 })
  expect(upstream.seen.map(({ path }) => path)).toEqual(['/v1/responses/compact'])
  expect(upstream.seen[0]?.body).toEqual({
    model: 'gpt-5.4',
    instructions: 'Be brief.',
    input: [{ role: 'user', content: 'Hi' }],
  })
  expect(gateway.generations().at(-1)).toMatchObject({ cost_nano_usd: 180_000, finish_reason: 'stop' })
  expect(
    await misfits([
      { type: 'CompactedResponse', name: 'scripted', value: { ...compacted, output: COMPACTED.slice(1) } },
    ]),
  ).toEqual([])
}, 30_000)

test('what it gave goes back in place of the conversation', async () => {
  upstream.on('gpt-5.4', () =>
    Response.json({
      id: 'r',
      object: 'response',
      status: 'completed',
      model: 'm',
      output: [],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    }),
  )
  const response = await gateway.call('/responses', { model: 'gpt-5.4', input: COMPACTED })
  expect(response.status).toBe(200)
  expect(upstream.seen[0]?.body['input']).toEqual(COMPACTED)
})

test('a model that no provider of Responses serves is a 400 that says so', async () => {
  const response = await gateway.call('/responses/compact', { model: 'chatty', input: 'Hi' })
  expect(response.status).toBe(400)
  expect((await response.json()).error.message).toContain('does not compact conversations')
  expect(upstream.seen).toEqual([])
})

test('it is guarded and limited as every other route', async () => {
  const bare = await fetch(`${gateway.url}/v1/responses/compact`, { method: 'POST', body: '{' })
  expect(bare.status).toBe(401)
  expect((await gateway.call('/responses/compact', { model: 'gpt-5.4' })).status).toBe(400)
  const { key } = await gateway.makeKey({ limit: 0.000001 })
  const poor = await gateway.call(
    '/responses/compact',
    { model: 'gpt-5.4', input: 'Hi' },
    { authorization: `Bearer ${key}` },
  )
  expect(poor.status).toBe(402)
})
