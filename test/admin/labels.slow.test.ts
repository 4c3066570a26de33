import { describe, expect, test } from 'bun:test'
import { sluice } from '../cli/process.ts'
import { gatewayOfFile, labOf } from '../file-setup.ts'
import { API_KEY, MANAGEMENT_KEY } from '../gateway.ts'
import { startUpstream, unary } from '../upstream.ts'

/** Spending by what callers say of their requests: their `user`, and their tags (`metadata`). */

const NOW = Date.UTC(2026, 6, 15, 12)

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    now: () => NOW,
    listens: true,
    providers: [
      labOf(upstream, [
        { id: 'cent', pricing: { prompt: '0', completion: '0', request: '0.01' } },
        { id: 'dime', pricing: { prompt: '0', completion: '0', request: '0.1' } },
      ]),
    ],
  },
  upstream,
)
for (const model of ['cent', 'dime'])
  upstream.on(model, (seen, request) =>
    seen.path.endsWith('/embeddings')
      ? Response.json({ data: [{ embedding: [1] }], usage: { prompt_tokens: 1 } })
      : unary('Hello')(seen, request),
  )
const messages = [{ role: 'user', content: 'Hi' }]
const requests: [path: string, body: Record<string, unknown>][] = [
  ['/chat/completions', { model: 'cent', messages, user: 'ada', metadata: { team: 'red', env: 'test' } }],
  ['/chat/completions', { model: 'dime', messages, user: 'ada', metadata: { team: 'blue' } }],
  ['/responses', { model: 'cent', input: 'Hi', user: 'bob', metadata: { team: 'red' } }],
  ['/messages', { model: 'cent', max_tokens: 5, messages, metadata: { user_id: 'eve', team: 'red' } }],
  ['/embeddings', { model: 'cent', input: 'Hi', user: 'bob' }],
  ['/chat/completions', { model: 'cent', messages }],
]
for (const [path, body] of requests) {
  const reply = await gateway.call(path, body)
  expect([path, reply.status, await reply.text()]).toEqual([path, 200, expect.any(String)])
}

describe('GET /activity', () => {
  const activity = async (query: string) => {
    const reply = await gateway.manage('GET', `/activity?${query}`)
    expect(reply.status).toBe(200)
    const { data } = await reply.json()
    return data.map(({ date, model, user, tag, usage, requests }: Record<string, unknown>) => [
      date,
      model,
      user ?? tag,
      usage,
      requests,
    ])
  }

  test('by user, model by model', async () => {
    expect(await activity('group_by=user')).toEqual([
      ['2026-07-15', 'dime', 'ada', 0.1, 1],
      ['2026-07-15', 'cent', 'bob', 0.02, 2],
      ['2026-07-15', 'cent', 'ada', 0.01, 1],
      ['2026-07-15', 'cent', 'eve', 0.01, 1],
    ])
  })

  test('by a tag', async () => {
    expect(await activity('group_by=tag:team')).toEqual([
      ['2026-07-15', 'dime', 'blue', 0.1, 1],
      ['2026-07-15', 'cent', 'red', 0.03, 3],
    ])
    expect(await activity('group_by=tag:nothing')).toEqual([])
  })

  test('anything else is refused', async () => {
    const reply = await gateway.manage('GET', '/activity?group_by=tag:')
    expect([reply.status, (await reply.json()).error.message]).toEqual([
      400,
      expect.stringContaining('workspace, user, tag:<name>'),
    ])
  })
})

describe('POST /analytics/query', () => {
  const query = (body: object) => gateway.manage('POST', '/analytics/query', body)
  const rows = async (body: object) => {
    const reply = await query({ metrics: ['total_usage'], ...body })
    expect(reply.status).toBe(200)
    return (await reply.json()).data.data
  }

  test('by user, and by a tag with the model and a filter', async () => {
    expect(await rows({ dimensions: ['user'] })).toEqual([
      { user: 'ada', total_usage: 0.11 },
      { user: 'bob', total_usage: 0.02 },
      { user: 'eve', total_usage: 0.01 },
    ])
    const filters = [{ field: 'tag:team', operator: 'eq', value: 'red' }]
    expect(await rows({ dimensions: ['tag:team', 'model'], filters, granularity: 'day' })).toEqual([
      { date__day: '2026-07-15T00:00:00.000Z', 'tag:team': 'red', model: 'cent', total_usage: 0.03 },
    ])
    expect(
      await rows({ dimensions: ['model'], filters: [{ field: 'user', operator: 'in', value: ['ada'] }] }),
    ).toEqual([
      { model: 'dime', total_usage: 0.1 },
      { model: 'cent', total_usage: 0.01 },
    ])
  })

  test.each<[what: string, body: object, says: string]>([
    ['hours', { dimensions: ['user'], granularity: 'hour' }, 'summed by the day'],
    ['two labels', { dimensions: ['user', 'tag:team'] }, 'one of user and tags'],
    ['a metric that is not summed by label', { dimensions: ['user', 'is_byok'] }, 'is_byok is not summed'],
    ['a name that is too long', { dimensions: [`tag:${'x'.repeat(65)}`] }, 'tag:<name>'],
  ])('%s are refused', async (_, body, says) => {
    const reply = await query({ metrics: ['total_usage'], ...body })
    expect([reply.status, (await reply.json()).error.message]).toEqual([400, expect.stringContaining(says)])
  })

  test('the dimensions are listed', async () => {
    const { data } = await (await gateway.manage('GET', '/analytics/meta')).json()
    expect(data.dimensions.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['user', 'tag:<name>']),
    )
  })
})

describe.each(['server', 'data folder'])('sluice usage, from the %s', (source) => {
  const usage = async (...args: string[]) => {
    const env: Record<string, string> =
      source === 'server'
        ? { SLUICE_URL: gateway.url, SLUICE_KEY: MANAGEMENT_KEY, SLUICE_API_KEY: API_KEY }
        : {}
    const from = source === 'server' ? [] : ['--data', gateway.folder]
    const period = ['--since', '2026-07-01', '--until', '2026-07-16']
    return sluice(['usage', '--json', ...args, ...period, ...from], { env })
  }

  test('--by user and --by tag:team', async () => {
    const byUser = JSON.parse((await usage('--by', 'user')).stdout)
    expect(byUser.data.map((line: Record<string, unknown>) => [line['user'], line['usage']])).toEqual([
      ['ada', 0.11],
      ['bob', 0.02],
      ['eve', 0.01],
    ])
    const byTeam = JSON.parse((await usage('--by', 'tag:team')).stdout)
    expect(byTeam.data.map((line: Record<string, unknown>) => [line['tag:team'], line['usage']])).toEqual([
      ['blue', 0.1],
      ['red', 0.03],
    ])
  })

  test('another word is refused with the ones there are', async () => {
    const { exitCode, stderr } = await usage('--by', 'tag:')
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('user, tag:<name>')])
  })
})
