import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { atomically } from '../../src/db/database.ts'
import { users } from '../../src/db/tables.ts'
import { objectOf } from '../../src/http/json.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { frames, sse, unary } from '../upstream.ts'

/** Requests and tokens per minute, of whoever is bounded, on every route of inference. The clock is ours. */

let gateway: Gateway
let now = Date.UTC(2026, 6, 15, 12)
let calls = 0

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
/** The whole answer to a conversation: 10 tokens in, 5 out. */
const chat = (isStreamed: boolean): Response | Promise<Response> =>
  isStreamed
    ? sse(frames(['Yes', '.']))
    : unary('Yes.')({ path: '', headers: new Headers(), body: {} }, new Request('http://localhost/'))
const ANSWERS: Record<string, () => Response> = {
  '/embeddings': () => Response.json({ data: [{ embedding: [1] }], usage: { prompt_tokens: 5 } }),
  '/rerank': () => Response.json({ results: [{ index: 0, relevance_score: 1 }], usage: { total_tokens: 7 } }),
  '/speech': () => new Response('sound', { headers: { 'content-type': 'audio/pcm' } }),
  '/transcriptions': () => Response.json({ text: 'a', usage: { type: 'duration', seconds: 2 } }),
}
const picture = () => Response.json({ created: 1, data: [{ b64_json: PNG }] })
const upstream = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    calls += 1
    const { pathname } = new URL(request.url)
    if (pathname.startsWith('/broken')) return new Response('no', { status: 500 })
    if (pathname.endsWith('/chat/completions')) return chat((await request.json()).stream === true)
    await request.bytes()
    const answer = Object.entries(ANSWERS).find(([end]) => pathname.endsWith(end))?.[1]
    return (answer ?? picture)()
  },
})

const PRICING = {
  prompt: '0.000001',
  completion: '0.000001',
  request: '0.001',
  image: '0.01',
  audio_second: '0.0001',
}
const model = (id: string) => ({ id, pricing: PRICING })

beforeAll(async () => {
  const at = (path: string) => `http://127.0.0.1:${upstream.port}/${path}/v1`
  gateway = await startGateway({
    now: () => now,
    providers: [
      { slug: 'lab', base_url: at('lab'), models: ['tiny', 'large', 'spare'].map(model) },
      { slug: 'broken', base_url: at('broken'), models: [model('breaks')] },
    ],
    models: [{ id: 'tiny', aliases: ['little'] }],
  })
  gateway.deps.run.wait = async () => undefined
  const { organizationId } = gateway.deps.snapshot.current()
  await atomically(gateway.database, (tx) => [
    tx.insert(users).values(
      ['user_ada', 'user_bob', 'user_cyd'].map((id) => ({
        id,
        organization_id: organizationId,
        name: id,
        role: 'member' as const,
      })),
    ),
  ])
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})
beforeEach(() => {
  now += 3_600_000
})

type Limits = Record<string, unknown>
async function dataOf(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const reply = objectOf(await (await gateway.manage(method, path, body)).json())
  expect(reply).not.toHaveProperty('error')
  return objectOf(reply['data'] ?? reply)
}
let slugs = 0
const newWorkspace = (fields: object = {}) => {
  const slug = `space-${++slugs}`
  return dataOf('POST', '/workspaces', { name: slug, slug, ...fields })
}

interface Route {
  path: string
  body: object
  name?: string
  isMessages?: boolean
}
const MESSAGES = [{ role: 'user', content: 'Hi there' }]
const CHAT = { path: '/chat/completions', body: { messages: MESSAGES } }
const routes: Route[] = [
  CHAT,
  { ...CHAT, name: 'chat, streamed', body: { messages: MESSAGES, stream: true } },
  { path: '/responses', body: { input: 'Hi there' } },
  { name: 'responses, streamed', path: '/responses', body: { input: 'Hi there', stream: true } },
  { name: 'responses, in the background', path: '/responses', body: { input: 'Hi there', background: true } },
  { path: '/messages', body: { messages: MESSAGES, max_tokens: 9 }, isMessages: true },
  {
    name: 'messages, streamed',
    path: '/messages',
    body: { messages: MESSAGES, max_tokens: 9, stream: true },
    isMessages: true,
  },
  { path: '/messages/count_tokens', body: { messages: MESSAGES }, isMessages: true },
  { path: '/embeddings', body: { input: 'a' } },
  { path: '/rerank', body: { query: 'q', documents: ['a'] } },
  { path: '/images', body: { prompt: 'a' } },
  { path: '/images/generations', body: { prompt: 'a' } },
  {
    path: '/images/edits',
    body: { prompt: 'a', images: [{ image_url: `data:image/png;base64,${PNG}` }] },
  },
  { path: '/audio/speech', body: { input: 'abc' } },
  { path: '/audio/transcriptions', body: { input_audio: { data: 'UklGRg==', format: 'wav' } } },
]

interface Answer {
  status: number
  text: string
  headers: Headers
}
async function ask(key: string, { path, body }: Route = CHAT, more: object = {}): Promise<Answer> {
  const response = await gateway.call(
    path,
    { model: 'tiny', ...body, ...more },
    { authorization: `Bearer ${key}` },
  )
  const text = await response.text()
  return { status: response.status, text, headers: response.headers }
}
const messageOf = ({ text }: Answer): string =>
  String(objectOf(objectOf(JSON.parse(text))['error'])['message'])
const statuses = async (key: string, times: number, more: object = {}): Promise<number[]> => {
  const told: number[] = []
  for (let time = 0; time < times; time++) told.push((await ask(key, CHAT, more)).status)
  return told
}

/** Who may be bounded: a key that is, and how a refusal calls it. */
const gates: [name: string, make: (limits: Limits) => Promise<{ key: string; says: RegExp }>][] = [
  [
    'the key',
    async (rate_limits) => {
      const { key } = await gateway.makeKey({ rate_limits })
      return { key, says: /^The key test-\S+\.\.\.\S+ |^The key sk-sl-v1-.{3}\.\.\..{3} / }
    },
  ],
  [
    'a guardrail of the key',
    async (rate_limits) => {
      const { key, hash } = await gateway.makeKey({})
      const { id } = await dataOf('POST', '/guardrails', { name: 'Slow', rate_limits })
      await dataOf('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [hash] })
      return { key, says: /^By the guardrail "Slow" the key sk-sl-v1-/ }
    },
  ],
  [
    'a guardrail of the member',
    async (rate_limits) => {
      const { id } = await dataOf('POST', '/guardrails', { name: 'Team', rate_limits })
      await dataOf('POST', `/guardrails/${id}/assignments/members`, { member_user_ids: ['user_ada'] })
      const { key } = await gateway.makeKey({ creator_user_id: 'user_ada' })
      return { key, says: /^By the guardrail "Team" the member user_ada / }
    },
  ],
  [
    'the default guardrail',
    async (rate_limits) => {
      const { id, default_guardrail_id } = await newWorkspace()
      await dataOf('PATCH', `/guardrails/${default_guardrail_id}`, { rate_limits })
      const { key } = await gateway.makeKey({ workspace_id: id })
      return { key, says: /^By the guardrail "Default" the key sk-sl-v1-/ }
    },
  ],
  [
    'the workspace',
    async (rate_limits) => {
      const { id } = await newWorkspace({ rate_limits })
      const { key } = await gateway.makeKey({ workspace_id: id })
      return { key, says: /^The workspace "space-\d+" / }
    },
  ],
  [
    'a model of the key',
    async ({ requests_per_minute, tokens_per_minute }) => {
      const models = [{ model: 'little', requests_per_minute, tokens_per_minute }]
      const { key } = await gateway.makeKey({ rate_limits: { models } })
      return { key, says: /^The key sk-sl-v1-\S+ may (make|use) \S+ \w+ of little a minute/ }
    },
  ],
]

describe.each(routes.map((route) => [route.name ?? route.path, route] as const))('%s', (_, route) => {
  test.each(gates)('refused by %s before anything else happens, and taken again in time', async (_, make) => {
    const { key, says } = await make({ requests_per_minute: 2 })
    for (let time = 0; time < 2; time++) {
      const taken = await ask(key, route)
      expect([taken.status, taken.headers.get('ratelimit')]).toEqual([200, null])
    }
    await idle()
    const before = { calls, rows: gateway.generations().length }
    const refused = await ask(key, route)
    expect([refused.status, messageOf(refused)]).toEqual([429, expect.stringMatching(says)])
    expect(messageOf(refused)).toEndWith(
      'a minute; used up: 2, still running: 0. The next one is taken in 30 s; a higher limit holds at once',
    )
    expectForm(route, refused)
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      'retry-after': '30',
      'ratelimit-policy': '"requests";q=2;w=60',
      ratelimit: '"requests";r=0;t=30',
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(now + 30_000),
    })
    expect({ calls, rows: gateway.generations().length }).toEqual(before)
    now += 29_999
    expect((await ask(key, route)).status).toBe(429)
    now += 1
    expect((await ask(key, route)).status).toBe(200)
    expect((await ask(key, route)).status).toBe(429)
  })
})

/** Until what runs without its caller has ended too. */
async function idle(): Promise<void> {
  while (gateway.deps.run.running.count() > 0) await Bun.sleep(1)
  expect([gateway.deps.run.rates.held(), gateway.deps.ledger.heldNanoUsd()]).toEqual([0, 0])
}

function expectForm({ isMessages }: Route, { text }: Answer): void {
  const body: unknown = JSON.parse(text)
  if (isMessages) {
    expect(body).toMatchObject({
      type: 'error',
      error: { type: 'rate_limit_error', error_type: 'rate_limit_exceeded' },
      request_id: expect.stringMatching(/^req-/),
    })
    return
  }
  expect(body).toMatchObject({
    error: { code: 429, message: expect.any(String), metadata: { error_type: 'rate_limit_exceeded' } },
  })
}

describe('tokens', () => {
  /** "Hi there" is 10 tokens by our estimate, and 15 with its answer by the provider's count. */
  test.each(gates)('of %s: what was used counts, and more than there was is waited for', async (_, make) => {
    const { key, says } = await make({ tokens_per_minute: 30 })
    expect(await statuses(key, 2)).toEqual([200, 200])
    const refused = await ask(key)
    expect([refused.status, messageOf(refused)]).toEqual([429, expect.stringMatching(says)])
    expect(messageOf(refused)).toEndWith(
      'a minute; used up: 30, of that held by running requests: 0, needed: 10. It is taken in 20 s; a higher limit holds at once',
    )
    expect(refused.headers.get('ratelimit')).toBe('"tokens";r=0;t=20')
    now += 19_999
    expect((await ask(key)).status).toBe(429)
    now += 1
    // 10 of 30 are left, 15 are used: 5 of debt.
    expect((await ask(key)).status).toBe(200)
    expect((await ask(key)).headers.get('retry-after')).toBe('30')
  })

  test('an answer that fails gives all of them back, and stays a request', async () => {
    const rate_limits = { tokens_per_minute: 11, requests_per_minute: 3 }
    const { key } = await gateway.makeKey({ rate_limits })
    expect((await ask(key, CHAT, { model: 'breaks' })).status).toBe(502)
    expect((await ask(key)).status).toBe(200)
    const refused = await ask(key)
    expect(refused.headers.get('ratelimit-policy')).toBe('"tokens";q=11;w=60')
    now += 3_600_000
    expect((await ask(key, CHAT, { model: 'breaks' })).status).toBeGreaterThanOrEqual(500)
  })

  test('of the bound on an answer at most a tenth of the limit is held', async () => {
    const { key } = await gateway.makeKey({ rate_limits: { tokens_per_minute: 100 } })
    // 10 for the prompt and 10 for the answer: five at once.
    const told = await Promise.all(Array.from({ length: 8 }, () => ask(key, CHAT, { max_tokens: 4_000 })))
    expect(told.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 200, 429, 429, 429])
    expect(messageOf(told.find(({ status }) => status === 429) ?? Object())).toContain(
      'used up: 100, of that held by running requests: 100, needed: 20',
    )
    // 75 were used in truth.
    expect((await ask(key, CHAT, { max_tokens: 10 })).status).toBe(200)
  })

  test('a prompt that is longer than the limit is told so, and not to wait', async () => {
    const { key } = await gateway.makeKey({ rate_limits: { tokens_per_minute: 9 } })
    const refused = await ask(key)
    expect([refused.status, messageOf(refused)]).toEqual([
      429,
      expect.stringMatching(
        /may use 9 tokens a minute, and this prompt alone is about 10: waiting does not help/,
      ),
    ])
    expect([refused.headers.get('retry-after'), refused.headers.get('ratelimit')]).toEqual([
      null,
      '"tokens";r=9',
    ])
  })

  test('a count needs none', async () => {
    const { key } = await gateway.makeKey({ rate_limits: { tokens_per_minute: 1 } })
    const count = { path: '/messages/count_tokens', body: { messages: MESSAGES } }
    expect((await ask(key, count)).status).toBe(200)
  })
})

describe('who shares', () => {
  test('keys of a workspace one limit, keys of its default guardrail one each', async () => {
    const { id, default_guardrail_id } = await newWorkspace({ rate_limits: { requests_per_minute: 3 } })
    await dataOf('PATCH', `/guardrails/${default_guardrail_id}`, { rate_limits: { requests_per_minute: 2 } })
    const [a, b] = [await gateway.makeKey({ workspace_id: id }), await gateway.makeKey({ workspace_id: id })]
    expect(await statuses(a.key, 3)).toEqual([200, 200, 429])
    const second = [await ask(b.key), await ask(b.key)]
    expect(second.map(({ status }) => status)).toEqual([200, 429])
    expect(messageOf(second[1] ?? Object())).toStartWith('The workspace "')
  })

  test('keys of a member one limit, whatever others do', async () => {
    const { id } = await dataOf('POST', '/guardrails', { name: 'M', rate_limits: { requests_per_minute: 2 } })
    const member_user_ids = ['user_bob', 'user_cyd']
    await dataOf('POST', `/guardrails/${id}/assignments/members`, { member_user_ids })
    const of = (creator_user_id: string) => gateway.makeKey({ creator_user_id })
    const [a, b, other] = [await of('user_bob'), await of('user_bob'), await of('user_cyd')]
    expect([...(await statuses(a.key, 1)), ...(await statuses(b.key, 2))]).toEqual([200, 200, 429])
    expect(await statuses(other.key, 3)).toEqual([200, 200, 429])
  })

  test('a guardrail that holds for a key in two ways counts once', async () => {
    const { id, default_guardrail_id } = await newWorkspace()
    await dataOf('PATCH', `/guardrails/${default_guardrail_id}`, { rate_limits: { requests_per_minute: 2 } })
    const { key, hash } = await gateway.makeKey({ workspace_id: id })
    await dataOf('POST', `/guardrails/${default_guardrail_id}/assignments/keys`, { key_hashes: [hash] })
    expect(await statuses(key, 3)).toEqual([200, 200, 429])
  })

  test('of several that are shut the one that takes longest is told', async () => {
    const { id } = await newWorkspace({ rate_limits: { requests_per_minute: 1 } })
    const { key } = await gateway.makeKey({ workspace_id: id, rate_limits: { requests_per_minute: 2 } })
    expect((await ask(key)).status).toBe(200)
    now += 30_000
    const refused = await ask(key)
    expect([messageOf(refused), refused.headers.get('retry-after')]).toEqual([
      expect.stringMatching(/^The workspace /),
      '30',
    ])
  })
})

describe('models', () => {
  const limited = (models: object[]) => gateway.makeKey({ rate_limits: { models } })

  test('are meant by any name, whatever they are asked by', async () => {
    const { key } = await limited([{ model: 'lab/tiny:nitro', requests_per_minute: 4 }])
    const names = ['tiny', 'little', 'tiny:floor', 'lab/tiny', 'tiny']
    const told: number[] = []
    for (const name of names) told.push((await ask(key, CHAT, { model: name })).status)
    expect(told).toEqual([200, 200, 200, 200, 429])
    expect((await ask(key, CHAT, { model: 'large' })).status).toBe(200)
  })

  test('one that nobody offers limits nothing', async () => {
    const { key } = await limited([{ model: 'no/such-model', requests_per_minute: 1 }])
    expect(await statuses(key, 3)).toEqual([200, 200, 200])
  })

  test('one that has no room left is passed over for the next of the request', async () => {
    const { key } = await limited([
      { model: 'tiny', requests_per_minute: 1 },
      { model: 'large', requests_per_minute: 1 },
    ])
    const more = { model: 'tiny', models: ['large'] }
    const first = await ask(key, CHAT, more)
    now += 10_000
    const [second, third] = [await ask(key, CHAT, more), await ask(key, CHAT, more)]
    const answeredBy = ({ text }: Answer) => objectOf(JSON.parse(text))['model']
    expect([answeredBy(first), answeredBy(second), third.status]).toEqual(['tiny', 'large', 429])
    // The one that is free first is told.
    expect([third.headers.get('retry-after'), messageOf(third)]).toEqual([
      '50',
      expect.stringContaining(' of tiny '),
    ])
    expect(answeredBy(await ask(key, CHAT, { ...more, models: ['large', 'spare'] }))).toBe('spare')
  })

  test('one that was not asked after all is not counted; one that failed is', async () => {
    const { key } = await limited([
      { model: 'breaks', requests_per_minute: 1 },
      { model: 'large', requests_per_minute: 1, tokens_per_minute: 15 },
    ])
    // `tiny` answers, `large` would have been next.
    expect((await ask(key, CHAT, { model: 'tiny', models: ['large'] })).status).toBe(200)
    expect((await ask(key, CHAT, { model: 'breaks', models: ['large'] })).status).toBe(200)
    // By now its breaker lets another try through, and the rate does not.
    now += 59_000
    const refused = await ask(key, CHAT, { model: 'breaks' })
    expect([refused.status, messageOf(refused)]).toEqual([429, expect.stringContaining('of breaks a minute')])
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await ask(key, CHAT, { model: 'large' })).status).toBe(429)
    await idle()
  })
})

describe('at once', () => {
  test.each([false, true])('500 requests at a limit of 10: 10 are taken, streamed: %p', async (stream) => {
    const { key, hash } = await gateway.makeKey({ rate_limits: { requests_per_minute: 10 } })
    const told = await Promise.all(Array.from({ length: 500 }, () => ask(key, CHAT, { stream })))
    const counts = told.map(({ status }) => status)
    expect([counts.filter((s) => s === 200).length, counts.filter((s) => s === 429).length]).toEqual([
      10, 490,
    ])
    expect(gateway.generations().filter((row) => row['key_hash'] === hash)).toHaveLength(10)
    await idle()
  })

  test('money and rates are taken together or not at all', async () => {
    const cent = { limit: 0.000_000_001, rate_limits: { requests_per_minute: 2, concurrent_requests: 1 } }
    const { key, hash } = await gateway.makeKey(cent)
    expect(await statuses(key, 5)).toEqual([402, 402, 402, 402, 402])
    await idle()
    await gateway.manage('PATCH', `/keys/${hash}`, { limit: 1 })
    expect(await statuses(key, 3, { max_tokens: 9 })).toEqual([200, 200, 429])
    const { data } = objectOf(await (await gateway.manage('GET', `/keys/${hash}`)).json())
    expect(objectOf(data)['usage']).toBeCloseTo(2 * 0.001_015, 9)
    await idle()
  })
})

test('a change holds for the next request, with what is used up', async () => {
  const { key, hash } = await gateway.makeKey({ rate_limits: { requests_per_minute: 1 } })
  const change = (rate_limits: object | null) => gateway.manage('PATCH', `/keys/${hash}`, { rate_limits })
  expect(await statuses(key, 2)).toEqual([200, 429])
  await change({ requests_per_minute: 3 })
  expect(await statuses(key, 3)).toEqual([200, 200, 429])
  await change(null)
  expect(await statuses(key, 3)).toEqual([200, 200, 200])
  await change({ requests_per_minute: 3 })
  expect((await ask(key)).status).toBe(429)
})

test('a clock that is set back locks nobody out and gives nobody more', async () => {
  const { key } = await gateway.makeKey({ rate_limits: { requests_per_minute: 2 } })
  expect((await ask(key)).status).toBe(200)
  now -= 1_800_000
  expect(await statuses(key, 2)).toEqual([200, 429])
  now += 30_000
  expect(await statuses(key, 2)).toEqual([200, 429])
})

test('whom nothing bounds is not looked at', async () => {
  const { key, hash } = await gateway.makeKey({})
  expect(gateway.deps.snapshot.current().keysByHash.get(hash)).not.toHaveProperty('rateGates')
  const told = await Promise.all(Array.from({ length: 50 }, () => ask(key)))
  expect(told.every(({ status }) => status === 200)).toBe(true)
})
