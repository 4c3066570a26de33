import { describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { forgetFailures } from '../gateway.ts'
import { dataLines, unary } from '../upstream.ts'

import { BYOK, COST, dataOf, startForByokMoney } from './byok-money-setup.ts'

/** What an answer with a BYOK key costs, who pays, and which limits count it. */

const { upstream, gateway, calls, space, ask, currentKey } = await startForByokMoney()

const byokUsage = {
  is_byok: true,
  cost: 0,
  cost_details: { upstream_inference_cost: COST },
}
const sharedUsage = {
  is_byok: false,
  cost: COST,
  cost_details: { upstream_inference_cost: null },
}

describe('the usage of a BYOK key', () => {
  const paths: [path: string, body: object][] = [
    ['/chat/completions', {}],
    ['/messages', {}],
    ['/responses', { input: 'Hi', messages: undefined }],
    ['/embeddings', { model: 'vector', input: 'Hi', messages: undefined }],
  ]
  test.each(paths)('is in the usage, the routing metadata and the generation of %s', async (path, body) => {
    const { key } = await space({})
    const reply = await ask(key, body, path)
    expect(reply.status).toBe(200)
    const json = objectOf(JSON.parse(reply.text))
    expect(json['usage']).toMatchObject(byokUsage)
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

  test('is apart from that of the gateway, which pays after the key is rejected', async () => {
    const { key } = await space({})
    calls.refused = 401
    const reply = await ask(key)
    expect(reply.used).toEqual(['byok', 'shared'])
    const json = objectOf(JSON.parse(reply.text))
    expect(json).toMatchObject({ usage: sharedUsage, service_metadata: { is_byok: false, attempt: 2 } })
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

  test('is in the last chunk of a stream, and counts truncated answers too', async () => {
    const { key } = await space({})
    const body = { model: 'tiny', stream: true, max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }
    const headers = { authorization: `Bearer ${key}` }
    const lines = await dataLines(await gateway.call('/chat/completions', body, headers))
    expect(objectOf(JSON.parse(lines.at(-2) ?? ''))['usage']).toMatchObject(byokUsage)
    await dataLines(await gateway.call('/chat/completions', { ...body, model: 'cut' }, headers))
    expect(gateway.generations().at(-1)).toMatchObject({ model: 'cut', is_byok: 1 })
    const { usage, byok_usage: byok } = await currentKey(key)
    expect([usage, Number(byok) > COST]).toEqual([0, true])
  })

  test('is a field of its own in the activity', async () => {
    const { key } = await space({})
    await ask(key)
    const rows = objectOf(await (await gateway.manage('GET', '/activity')).json())['data']
    const sums = (Array.isArray(rows) ? rows : []).map(objectOf).filter((row) => row['model'] === 'tiny')
    expect(sums.reduce((sum, row) => sum + Number(row['byok_usage_inference']), 0)).toBeGreaterThan(0)
  })
})

describe('the limit', () => {
  type Row = [what: string, byok: object | null, isCounted: boolean, answered: number, refusal: number]
  const keys: Row[] = [
    ['BYOK keys not counted', {}, false, 5, 200],
    ['BYOK keys counted', {}, true, 2, 402],
    ['BYOK keys counted, and required', { is_required: true }, true, 2, 402],
    ['no BYOK keys', null, false, 2, 402],
  ]
  test.each(keys)('of a key, with %s', async (_, byok, isCounted, answered, refusal) => {
    const { key } = await space(byok, { limit: 2.5 * COST, include_byok_in_limit: isCounted })
    for (let turn = 0; turn < answered; turn++) expect((await ask(key)).status).toBe(200)
    expect((await ask(key)).status).toBe(refusal)
    const shown = await currentKey(key)
    const spent = Number(shown['usage']) + Number(shown['byok_usage'])
    expect(shown['limit_remaining']).toBeCloseTo(2.5 * COST - (isCounted || byok === null ? spent : 0), 12)
  })

  test('of a key counts BYOK keys by its present setting', async () => {
    const { key, hash } = await space({}, { limit: 1.5 * COST })
    await ask(key)
    expect((await ask(key)).status).toBe(200)
    await gateway.manage('PATCH', `/keys/${hash}`, { include_byok_in_limit: true })
    const reply = await ask(key)
    expect([reply.status, reply.text]).toEqual([402, expect.stringContaining('$0.00003 is used')])
    await gateway.manage('PATCH', `/keys/${hash}`, { include_byok_in_limit: false })
    expect((await ask(key)).status).toBe(200)
  })

  test('of the organization is for what the gateway pays', async () => {
    const [mine, other] = [await space({}), await space(null)]
    const { total_usage: used } = await dataOf(gateway.manage('GET', '/credits'))
    try {
      await gateway.manage('PUT', '/credits', { total_credits: used })
      expect((await ask(other.key)).status).toBe(402)
      calls.refused = 401
      expect(await ask(mine.key)).toMatchObject({ status: 502, used: ['byok'] })
      calls.refused = null
      forgetFailures(gateway)
      expect((await ask(mine.key)).status).toBe(200)
      expect((await dataOf(gateway.manage('GET', '/credits')))['total_usage']).toBe(used)
    } finally {
      await gateway.manage('PUT', '/credits', { total_credits: null })
    }
  })

  test.each([false, true])("of a workspace's budget (BYOK keys counted: %p)", async (isCounted) => {
    const { key, slug } = await space({})
    const budget = { limit_usd: 1.5 * COST, include_byok_in_budgets: isCounted }
    await gateway.manage('PUT', `/workspaces/${slug}/budgets/daily`, budget)
    expect((await ask(key)).status).toBe(200)
    expect((await ask(key)).status).toBe(isCounted ? 403 : 200)
  })

  test.each([false, true])("of a guardrail's budget (BYOK keys counted: %p)", async (isCounted) => {
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

describe('the reservation', () => {
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
    calls.during = () => amounts.push(1e9 - gateway.deps.ledger.remaining([gate], Date.now()).nanoUsd)
    expect((await ask(key)).status).toBe(200)
    return amounts
  }

  test('covers the fallback to the gateway, if there is one, and otherwise only what is counted', async () => {
    const limit = { limit: 0.5 }
    const [fallsBack] = await held((await space({}, limit)).key)
    expect(fallsBack).toBeGreaterThan(0)
    expect(await held((await space({ is_required: true }, limit)).key)).toEqual([0])
    const counted = { ...limit, include_byok_in_limit: true }
    expect(await held((await space({ is_required: true }, counted)).key)).toEqual([fallsBack ?? 0])
  })

  test('leaves BYOK keys alone, without a fallback, beyond the limit', async () => {
    const { key, id } = await space({ disabled: true }, { limit: 1.2 * COST })
    expect((await ask(key)).used).toEqual(['shared'])
    await gateway.manage('PATCH', `/byok/${id}`, { disabled: false })
    expect(await ask(key)).toMatchObject({ status: 200, used: ['byok'] })
    calls.refused = 401
    expect(await ask(key)).toMatchObject({ status: 502, used: ['byok'] })
    expect(await currentKey(key)).toMatchObject({ usage: COST, byok_usage: COST })
  })

  test('bounds an answer of the gateway by the remaining budget, and not one of a BYOK key', async () => {
    const { key } = await space({}, { limit: 0.005 })
    const bounds: unknown[] = []
    upstream.on('long', (seen, request) => {
      bounds.push(seen.body['max_tokens'] ?? seen.body['max_completion_tokens'] ?? null)
      return bounds.length === 1
        ? Response.json({ error: { message: 'no' } }, { status: 401 })
        : unary('Yes.')(seen, request)
    })
    const reply = await ask(key, { model: 'long', max_tokens: undefined })
    const [ofByok, ofGateway] = bounds
    expect(ofByok).toBeNull()
    expect(Number(ofGateway)).toBeGreaterThan(4_000)
    expect(Number(ofGateway)).toBeLessThan(5_000)
    const { params } = objectOf(objectOf(JSON.parse(reply.text))['service_metadata'])
    expect(params).toMatchObject({ max_tokens: ofGateway })
  })

  test('keeps the limit if the BYOK key is rejected in half of a hundred concurrent requests', async () => {
    const { key } = await space({}, { limit: 10 * COST })
    let turn = 0
    upstream.on('tiny', (seen, request) =>
      seen.headers.get('authorization') === `Bearer ${BYOK}` && turn++ % 2 === 0
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
