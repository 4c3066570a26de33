import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { dataLines, paced, startUpstream, streamed, unary } from '../upstream.ts'

/** What an answer with a workspace's own provider key costs, whom, and which limits count it. */

const SHARED = 'sk-shared-0123456789-gateway'
const OWN = 'sk-own-0123456789-canary'
/** 10 prompt tokens and 5 of an answer, at a dollar a million. */
const COST = 0.000015
const PRICES = { prompt: '0.000001', completion: '0.000001' }

let gateway: Gateway
let refused: number | null = null
/** Called while an answer is under way. */
let during: () => void = () => undefined
let shown: string[] = []

const upstream = startUpstream()
upstream.on('cut', () =>
  paced([
    'data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Half an answer"}}]}\n\n',
  ]),
)
upstream.on('vector', () =>
  Response.json({
    object: 'list',
    model: 'vector',
    data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }],
    usage: { prompt_tokens: 15, total_tokens: 15 },
  }),
)

beforeAll(async () => {
  const facts = { context_length: 1000, max_completion_tokens: 100, pricing: PRICES }
  gateway = await startGateway({
    providers: [
      {
        slug: 'one',
        base_url: upstream.baseUrl,
        api_key: SHARED,
        models: [
          { id: 'tiny', ...facts },
          { id: 'cut', ...facts },
          { id: 'long', ...facts, context_length: 20_000, max_completion_tokens: 10_000 },
          { id: 'vector', ...facts, architecture: { output_modalities: ['embeddings'] } },
        ],
      },
    ],
  })
})
beforeEach(() => {
  upstream.on('tiny', async (seen, request) => {
    shown.push(seen.headers.get('authorization') === `Bearer ${OWN}` ? 'own' : 'shared')
    during()
    if (refused !== null && shown.at(-1) === 'own') {
      return Response.json({ error: { message: 'no' } }, { status: refused })
    }
    if (seen.body['stream'] !== true) return unary('Yes.')(seen, request)
    return streamed(['Yes', '.'])(seen, request)
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})
afterEach(() => {
  refused = null
  during = () => undefined
  expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
})

const dataOf = async (pending: Promise<Response>): Promise<Record<string, unknown>> => {
  const body = objectOf(await (await pending).json())
  expect(body).not.toHaveProperty('error')
  return objectOf(body['data'])
}
let made = 0
/** A workspace with one own key and one API key. */
async function space(own: object | null, key: object = {}) {
  const slug = `space-${made++}`
  const workspace = String((await dataOf(gateway.manage('POST', '/workspaces', { name: slug, slug })))['id'])
  const api = await gateway.makeKey({ workspace_id: workspace, ...key })
  let id = ''
  if (own !== null) {
    const body = { provider: 'one', key: OWN, workspace_id: workspace, ...own }
    id = String((await dataOf(gateway.manage('POST', '/byok', body)))['id'])
  }
  return { ...api, workspace, slug, id }
}
async function ask(key: string, more: object = {}, path = '/chat/completions') {
  shown = []
  const headers = { authorization: `Bearer ${key}`, 'x-service-metadata': 'enabled' }
  const body = { model: 'tiny', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }], ...more }
  const reply = await gateway.call(path, body, headers)
  const text = await reply.text()
  return { status: reply.status, text, id: reply.headers.get('x-generation-id') ?? '', shown: [...shown] }
}
const currentKey = (key: string): Promise<Record<string, unknown>> =>
  dataOf(gateway.call('/key', undefined, { authorization: `Bearer ${key}` }))

const own = {
  is_byok: true,
  cost: 0,
  cost_details: { upstream_inference_cost: COST },
}
const shared = {
  is_byok: false,
  cost: COST,
  cost_details: { upstream_inference_cost: null },
}

describe('what is told', () => {
  const paths: [path: string, body: object][] = [
    ['/chat/completions', {}],
    ['/messages', {}],
    ['/responses', { input: 'Hi', messages: undefined }],
    ['/embeddings', { model: 'vector', input: 'Hi', messages: undefined }],
  ]
  test.each(paths)('%s: usage, routing metadata, generation', async (path, body) => {
    const { key } = await space({})
    const reply = await ask(key, body, path)
    expect(reply.status).toBe(200)
    const json = objectOf(JSON.parse(reply.text))
    expect(json['usage']).toMatchObject(own)
    expect(json['service_metadata']).toMatchObject({ is_byok: true, endpoints: { total: 1 } })
    const headers = { authorization: `Bearer ${key}` }
    expect(await dataOf(gateway.call(`/generation?id=${reply.id}`, undefined, headers))).toMatchObject({
      is_byok: true,
      total_cost: 0,
      usage: 0,
      upstream_inference_cost: COST,
      provider_responses: [{ is_byok: true, status: 200 }],
    })
    expect(await currentKey(key)).toMatchObject({ usage: 0, byok_usage: COST, byok_usage_daily: COST })
  })

  test('after a refused own key it is the gateway that pays, and each try says whose it was', async () => {
    const { key } = await space({})
    refused = 401
    const reply = await ask(key)
    expect(reply.shown).toEqual(['own', 'shared'])
    const json = objectOf(JSON.parse(reply.text))
    expect(json).toMatchObject({ usage: shared, service_metadata: { is_byok: false, attempt: 2 } })
    const headers = { authorization: `Bearer ${key}` }
    expect(await dataOf(gateway.call(`/generation?id=${reply.id}`, undefined, headers))).toMatchObject({
      is_byok: false,
      total_cost: COST,
      provider_responses: [
        { is_byok: true, status: 401 },
        { is_byok: false, status: 200 },
      ],
    })
    expect(await currentKey(key)).toMatchObject({ usage: COST, byok_usage: 0 })
  })

  test('streamed: the last chunk says the same; what is cut off is counted as own, too', async () => {
    const { key } = await space({})
    const body = { model: 'tiny', stream: true, max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }
    const headers = { authorization: `Bearer ${key}` }
    const lines = await dataLines(await gateway.call('/chat/completions', body, headers))
    expect(objectOf(JSON.parse(lines.at(-2) ?? ''))['usage']).toMatchObject(own)
    await dataLines(await gateway.call('/chat/completions', { ...body, model: 'cut' }, headers))
    expect(gateway.generations().at(-1)).toMatchObject({ model: 'cut', is_byok: 1 })
    const { usage, byok_usage: byok } = await currentKey(key)
    expect([usage, Number(byok) > COST]).toEqual([0, true])
  })

  test('activity counts it apart', async () => {
    const { key } = await space({})
    await ask(key)
    const rows = objectOf(await (await gateway.manage('GET', '/activity')).json())['data']
    const sums = (Array.isArray(rows) ? rows : []).map(objectOf).filter((row) => row['model'] === 'tiny')
    expect(sums.reduce((sum, row) => sum + Number(row['byok_usage_inference']), 0)).toBeGreaterThan(0)
  })
})

describe('limits', () => {
  type Row = [what: string, own: object | null, isCounted: boolean, answered: number, refusal: number]
  const keys: Row[] = [
    ['own keys are not counted', {}, false, 5, 200],
    ['own keys are counted', {}, true, 2, 402],
    ['own keys are counted, and are the only ones', { is_required: true }, true, 2, 402],
    ['without own keys', null, false, 2, 402],
  ]
  test.each(keys)("a key's limit: %s", async (_, brought, isCounted, answered, refusal) => {
    const { key } = await space(brought, { limit: 2.5 * COST, include_byok_in_limit: isCounted })
    for (let turn = 0; turn < answered; turn++) expect((await ask(key)).status).toBe(200)
    expect((await ask(key)).status).toBe(refusal)
    const told = await currentKey(key)
    const spent = Number(told['usage']) + Number(told['byok_usage'])
    expect(told['limit_remaining']).toBeCloseTo(2.5 * COST - (isCounted || brought === null ? spent : 0), 12)
  })

  test('what counts is decided by the flag of now', async () => {
    const { key, hash } = await space({}, { limit: 1.5 * COST })
    await ask(key)
    expect((await ask(key)).status).toBe(200)
    await gateway.manage('PATCH', `/keys/${hash}`, { include_byok_in_limit: true })
    const reply = await ask(key)
    expect([reply.status, reply.text]).toEqual([402, expect.stringContaining('$0.00003 is used')])
    await gateway.manage('PATCH', `/keys/${hash}`, { include_byok_in_limit: false })
    expect((await ask(key)).status).toBe(200)
  })

  test('the allowance of the organization is for what the gateway pays', async () => {
    const [mine, other] = [await space({}), await space(null)]
    const { total_usage: used } = await dataOf(gateway.manage('GET', '/credits'))
    try {
      await gateway.manage('PUT', '/credits', { total_credits: used })
      expect((await ask(other.key)).status).toBe(402)
      refused = 401
      expect(await ask(mine.key)).toMatchObject({ status: 502, shown: ['own'] })
      refused = null
      expect((await ask(mine.key)).status).toBe(200)
      expect((await dataOf(gateway.manage('GET', '/credits')))['total_usage']).toBe(used)
    } finally {
      await gateway.manage('PUT', '/credits', { total_credits: null })
    }
  })

  test.each([false, true])("a workspace's budget (own keys counted: %p)", async (isCounted) => {
    const { key, slug } = await space({})
    const budget = { limit_usd: 1.5 * COST, include_byok_in_budgets: isCounted }
    await gateway.manage('PUT', `/workspaces/${slug}/budgets/daily`, budget)
    expect((await ask(key)).status).toBe(200)
    expect((await ask(key)).status).toBe(isCounted ? 403 : 200)
  })

  test.each([false, true])("a guardrail's budget (own keys counted: %p)", async (isCounted) => {
    const { key, hash, workspace } = await space({})
    const rail = await dataOf(
      gateway.manage('POST', '/guardrails', {
        name: 'Rail',
        workspace_id: workspace,
        limit_usd: 1.5 * COST,
        reset_interval: 'daily',
        include_byok_in_budgets: isCounted,
      }),
    )
    await gateway.manage('POST', `/guardrails/${rail['id']}/assignments/keys`, { key_hashes: [hash] })
    expect((await ask(key)).status).toBe(200)
    expect((await ask(key)).status).toBe(isCounted ? 403 : 200)
  })
})

describe('holds', () => {
  const held = async (key: string): Promise<number[]> => {
    const amounts: number[] = []
    const { keysByHash } = gateway.deps.snapshot.current()
    const record = [...keysByHash.values()].find(({ hash }) => hash === Bun.SHA256.hash(key, 'hex'))
    const gate = {
      scope: 'key',
      id: record?.hash ?? '',
      label: 'k',
      interval: 'lifetime',
      limitNanoUsd: 1e9,
      status: 402,
    } as const
    during = () => amounts.push(1e9 - gateway.deps.ledger.room([gate], Date.now()).nanoUsd)
    expect((await ask(key)).status).toBe(200)
    return amounts
  }

  test('who may fall back to the gateway holds for it; who may not holds nothing that is not counted', async () => {
    const limit = { limit: 0.5 }
    const [fallsBack] = await held((await space({}, limit)).key)
    expect(fallsBack).toBeGreaterThan(0)
    expect(await held((await space({ is_required: true }, limit)).key)).toEqual([0])
    const counted = { ...limit, include_byok_in_limit: true }
    expect(await held((await space({ is_required: true }, counted)).key)).toEqual([fallsBack ?? 0])
  })

  test('beyond the limit own keys answer alone: nothing falls back to the gateway', async () => {
    const { key, id } = await space({ disabled: true }, { limit: 1.2 * COST })
    expect((await ask(key)).shown).toEqual(['shared'])
    await gateway.manage('PATCH', `/byok/${id}`, { disabled: false })
    expect(await ask(key)).toMatchObject({ status: 200, shown: ['own'] })
    refused = 401
    expect(await ask(key)).toMatchObject({ status: 502, shown: ['own'] })
    expect(await currentKey(key)).toMatchObject({ usage: COST, byok_usage: COST })
  })

  test('money bounds an answer of the gateway, and not one of an own key', async () => {
    const { key } = await space({}, { limit: 0.005 })
    const bounds: unknown[] = []
    upstream.on('long', (seen, request) => {
      bounds.push(seen.body['max_tokens'] ?? seen.body['max_completion_tokens'] ?? null)
      return bounds.length === 1
        ? Response.json({ error: { message: 'no' } }, { status: 401 })
        : unary('Yes.')(seen, request)
    })
    const reply = await ask(key, { model: 'long', max_tokens: undefined })
    const [ofOwn, ofGateway] = bounds
    expect(ofOwn).toBeNull()
    expect(Number(ofGateway)).toBeGreaterThan(4_000)
    expect(Number(ofGateway)).toBeLessThan(5_000)
    const { params } = objectOf(objectOf(JSON.parse(reply.text))['service_metadata'])
    expect(params).toMatchObject({ max_tokens: ofGateway })
  })

  test('a hundred at once, half of them refused by the own key: no limit is overshot', async () => {
    const { key } = await space({}, { limit: 10 * COST })
    let turn = 0
    upstream.on('tiny', (seen, request) =>
      seen.headers.get('authorization') === `Bearer ${OWN}` && turn++ % 2 === 0
        ? Response.json({ error: { message: 'no' } }, { status: 402 })
        : unary('Yes.')(seen, request),
    )
    const statuses = await Promise.all(Array.from({ length: 100 }, async () => (await ask(key)).status))
    expect(statuses.filter((status) => ![200, 402, 502].includes(status))).toEqual([])
    const { usage, byok_usage: byok } = await currentKey(key)
    expect(Number(usage)).toBeGreaterThan(0)
    expect(Number(usage)).toBeLessThanOrEqual(10 * COST)
    expect(Number(byok)).toBeGreaterThan(0)
  })
})
