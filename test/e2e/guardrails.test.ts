import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { unary } from '../upstream.ts'

/** What guardrails and budgets say holds for the next request. */

let gateway: Gateway
let now = Date.UTC(2026, 6, 15, 12)
let asked: string[] = []
/** What one answer costs: 10 prompt tokens and 5 of an answer, at a dollar a million. */
const COST = 0.000015

const upstream = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch(request) {
    const { pathname } = new URL(request.url)
    asked.push(pathname.split('/')[1] ?? '')
    return unary('Yes.')({ path: pathname, headers: request.headers, body: {} }, request)
  },
})

const modelsOf = (ids: string[]) =>
  ids.map((id) => ({
    id,
    context_length: 1000,
    max_completion_tokens: 100,
    pricing: { prompt: '0.000001', completion: '0.000001' },
  }))

beforeAll(async () => {
  gateway = await startGateway({
    now: () => now,
    providers: [
      {
        slug: 'one',
        name: 'First One',
        base_url: `http://127.0.0.1:${upstream.port}/one`,
        models: modelsOf(['tiny', 'anthropic/deep']),
      },
      { slug: 'two', base_url: `http://127.0.0.1:${upstream.port}/two`, models: modelsOf(['tiny', 'large']) },
    ],
    models: [{ id: 'tiny', aliases: ['fast'] }],
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})

const dataOf = async (response: Response): Promise<Record<string, unknown>> => {
  const body = objectOf(await response.json())
  expect(body).not.toHaveProperty('error')
  return objectOf(body['data'])
}
async function guarded(fields: object): Promise<{ key: string; hash: string; guardrail: string }> {
  const made = await gateway.makeKey({})
  const guardrail = String(
    (await dataOf(await gateway.manage('POST', '/guardrails', { name: 'Careful', ...fields })))['id'],
  )
  await gateway.manage('POST', `/guardrails/${guardrail}/assignments/keys`, { key_hashes: [made.hash] })
  return { ...made, guardrail }
}
async function ask(key: string, model: string, more: object = {}): Promise<{ status: number; text: string }> {
  asked = []
  const body = {
    model,
    max_tokens: 5,
    messages: [{ role: 'user', content: 'Hi there' }],
    ...more,
  }
  const response = await gateway.call('/chat/completions', body, { authorization: `Bearer ${key}` })
  return { status: response.status, text: await response.text() }
}

type Row = [what: string, fields: object, model: string, status: number, message: string]
const rows: Row[] = [
  ['an allowed model', { allowed_models: ['tiny'] }, 'tiny', 200, 'Yes.'],
  [
    'a model that is not allowed',
    { allowed_models: ['tiny'] },
    'large',
    403,
    'does not allow the model large',
  ],
  ['a model that is forbidden', { ignored_models: ['tiny'] }, 'tiny', 403, 'forbids the model tiny'],
  ['a variant of one', { ignored_models: ['tiny'] }, 'tiny:floor', 403, 'forbids the model tiny'],
  ['its name at a provider', { ignored_models: ['two/tiny'] }, 'tiny', 403, 'forbids the model tiny'],
  ['its name in another case', { ignored_models: ['Tiny'] }, 'tiny', 403, 'forbids the model tiny'],
  ["the operator's name for it", { ignored_models: ['fast'] }, 'tiny', 403, 'forbids the model tiny'],
  ['an allowed name', { allowed_models: ['fast'] }, 'tiny', 200, 'Yes.'],
  ['a name that nothing has yet', { ignored_models: ['soon'] }, 'tiny', 200, 'Yes.'],
  [
    'providers by what they are called',
    { ignored_providers: ['First One', 'TWO'] },
    'tiny',
    403,
    'forbids the provider',
  ],
  [
    'a slug that another one is called by',
    { allowed_providers: ['first one'] },
    'tiny',
    403,
    'does not allow the provider one',
  ],
  ['a provider that is allowed', { allowed_providers: ['two'] }, 'tiny', 200, 'Yes.'],
  ['providers that are not', { allowed_providers: ['three'] }, 'tiny', 403, 'does not allow the provider'],
  [
    'providers that are forbidden',
    { ignored_providers: ['one', 'two'] },
    'tiny',
    403,
    'forbids the provider',
  ],
  ['a region without a known endpoint', { allowed_data_regions: ['europe'] }, 'tiny', 403, 'regions europe'],
  ['any region', { allowed_data_regions: ['global', 'us'] }, 'tiny', 200, 'Yes.'],
  // Servers on this machine keep nothing, so they are within every rule on data.
  ['no retention, on this machine', { enforce_zdr: true }, 'anthropic/deep', 200, 'Yes.'],
  ['no training, on this machine', { enable_paid_model_training: false }, 'tiny', 200, 'Yes.'],
]

test.each(rows)('a guardrail on %s', async (_, fields, model, status, message) => {
  const { key } = await guarded(fields)
  const reply = await ask(key, model)
  expect([reply.status, reply.text]).toEqual([status, expect.stringContaining(message)])
  if (status === 403) {
    expect(reply.text).toContain('the guardrail \\"Careful\\"')
    expect(asked).toEqual([])
  }
})

test('other endpoints serve what a guardrail leaves, and the list says the same', async () => {
  const { key } = await guarded({ allowed_providers: ['two'] })
  for (let time = 0; time < 5; time++) {
    await ask(key, 'tiny')
    expect(asked).toEqual(['two'])
  }
  expect((await ask(key, 'anthropic/deep')).status).toBe(403)
  const list = objectOf(
    await (await gateway.call('/models/user', undefined, { authorization: `Bearer ${key}` })).json(),
  )
  const ids = Array.isArray(list['data']) ? list['data'].map((model) => objectOf(model)['id']) : []
  expect(ids).toContain('tiny')
  expect(ids).toContain('large')
  expect(ids).not.toContain('anthropic/deep')
})

test('those of the workspace, of the member and of the key hold together', async () => {
  const other = await dataOf(await gateway.manage('POST', '/workspaces', { name: 'Strict', slug: 'strict' }))
  const { key, hash } = await gateway.makeKey({ workspace_id: other['id'] })
  expect((await ask(key, 'large')).status).toBe(200)
  await gateway.manage('PATCH', `/guardrails/${other['default_guardrail_id']}`, {
    allowed_models: ['tiny', 'large'],
  })
  expect((await ask(key, 'anthropic/deep')).status).toBe(403)
  expect((await ask(key, 'large')).status).toBe(200)
  const own = await dataOf(
    await gateway.manage('POST', '/guardrails', {
      name: 'Own',
      workspace_id: other['id'],
      allowed_models: ['tiny', 'anthropic/deep'],
    }),
  )
  await gateway.manage('POST', `/guardrails/${own['id']}/assignments/keys`, { key_hashes: [hash] })
  expect((await ask(key, 'large')).status).toBe(403)
  expect((await ask(key, 'anthropic/deep')).status).toBe(403)
  expect((await ask(key, 'tiny')).status).toBe(200)
  await gateway.manage('DELETE', `/guardrails/${own['id']}`)
  expect((await ask(key, 'large')).status).toBe(200)
})

describe('budgets', () => {
  test("a guardrail's holds for each key alone, starts anew, and is raised for the next request", async () => {
    const first = await guarded({ limit_usd: 2 * COST, reset_interval: 'daily' })
    const second = await gateway.makeKey({})
    await gateway.manage('POST', `/guardrails/${first.guardrail}/assignments/keys`, {
      key_hashes: [second.hash],
    })
    for (const { key } of [first, second]) {
      expect((await ask(key, 'large')).status).toBe(200)
      expect((await ask(key, 'large')).status).toBe(200)
      const refused = await ask(key, 'large')
      expect([refused.status, refused.text]).toEqual([
        403,
        expect.stringMatching(
          /The guardrail \\"Careful\\"'s daily limit of \$0\.00003 is reached.*2026-07-16T00:00:00Z/,
        ),
      ])
      expect(asked).toEqual([])
    }
    await gateway.manage('PATCH', `/guardrails/${first.guardrail}`, { limit_usd: 3 * COST })
    expect((await ask(second.key, 'large')).status).toBe(200)
    expect((await ask(second.key, 'large')).status).toBe(403)
    now += 24 * 3_600_000
    expect((await ask(second.key, 'large')).status).toBe(200)
  })

  test("a workspace's is one for all its keys, counts what was spent before it, and names the broadest", async () => {
    const space = await dataOf(await gateway.manage('POST', '/workspaces', { name: 'Poor', slug: 'poor' }))
    const keys = [
      await gateway.makeKey({ workspace_id: space['id'] }),
      await gateway.makeKey({ workspace_id: space['id'] }),
    ]
    const [a, b] = keys.map(({ key }) => key)
    if (!a || !b) throw new Error('no keys')
    expect((await ask(a, 'large')).status).toBe(200)
    await gateway.manage('PUT', '/workspaces/poor/budgets/daily', { limit_usd: 2 * COST })
    await gateway.manage('PUT', '/workspaces/poor/budgets/monthly', { limit_usd: 3 * COST })
    expect((await ask(b, 'large')).status).toBe(200)
    const daily = await ask(b, 'large')
    expect([daily.status, daily.text]).toEqual([403, expect.stringContaining("this workspace's daily limit")])
    now += 24 * 3_600_000
    expect((await ask(a, 'large')).status).toBe(200)
    const monthly = await ask(a, 'large')
    expect([monthly.status, monthly.text]).toEqual([
      403,
      expect.stringContaining("this workspace's monthly limit"),
    ])
    await gateway.manage('DELETE', '/workspaces/poor/budgets/monthly')
    expect((await ask(b, 'large')).status).toBe(200)
  })

  test('a hundred at once never overshoot any of them', async () => {
    const space = await dataOf(await gateway.manage('POST', '/workspaces', { name: 'Rush', slug: 'rush' }))
    const made = await gateway.makeKey({ workspace_id: space['id'], limit: 1 })
    const rail = await dataOf(
      await gateway.manage('POST', '/guardrails', {
        name: 'Ten',
        workspace_id: space['id'],
        limit_usd: 10 * COST,
        reset_interval: 'weekly',
      }),
    )
    await gateway.manage('POST', `/guardrails/${rail['id']}/assignments/keys`, { key_hashes: [made.hash] })
    await gateway.manage('PUT', '/workspaces/rush/budgets/lifetime', { limit_usd: 20 * COST })
    const replies = await Promise.all(Array.from({ length: 100 }, () => ask(made.key, 'large')))
    const statuses = replies.map(({ status }) => status)
    expect(statuses.filter((status) => status !== 200 && status !== 403)).toEqual([])
    // Held for more than an answer costs, so that fewer than ten may run at once; never more.
    const answered = statuses.filter((status) => status === 200).length
    expect(answered).toBeGreaterThan(0)
    expect(answered).toBeLessThanOrEqual(10)
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  })
})
