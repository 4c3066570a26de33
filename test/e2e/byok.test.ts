import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { API_KEY, type Gateway, startGateway } from '../gateway.ts'
import { dataLines, startUpstream, streamed, unary } from '../upstream.ts'

/** A workspace's own provider keys on the hot path: order, rules, and that each change holds for the next request. */

const SHARED = 'sk-shared-0123456789-gateway'
const keyOf = (name: string): string => `sk-own-${name}-0123456789-canary`

let gateway: Gateway
let asked: string[] = []
const logged: string[] = []
/** Who is refused, and with which status. */
let refused: Record<string, number> = {}

const nameOf = (shown: string | null): string => {
  const secret = shown?.replace('Bearer ', '') ?? ''
  return secret === SHARED ? 'shared' : (/^sk-own-(\w+)-/.exec(secret)?.[1] ?? secret)
}

const upstream = startUpstream()
for (const model of ['tiny', 'large', 'gpt-4o-mini']) {
  upstream.on(model, (seen, request) => {
    const who = nameOf(seen.headers.get('authorization'))
    const at = seen.path.split('/')[2] ?? ''
    asked.push(at === 'chat' ? who : `${who}@${at}`)
    const status = refused[who]
    if (status !== undefined) {
      return Response.json(
        { error: { message: `Refused: ${seen.headers.get('authorization')}` } },
        { status },
      )
    }
    return (seen.body['stream'] === true ? streamed(['Yes', '.']) : unary('Yes.'))(seen, request)
  })
}

/** What a cloud that signs was shown. */
const signed: (string | null)[] = []
const cloud = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch({ headers }) {
    signed.push(headers.get('authorization'))
    return Response.json({ message: 'The security token is invalid: canary-0123456789' }, { status: 403 })
  },
})

const models = (...ids: string[]) =>
  ids.map((id) => ({ id, context_length: 1000, max_completion_tokens: 100, pricing: PRICES }))
const PRICES = { prompt: '0.000001', completion: '0.000001' }

beforeAll(async () => {
  gateway = await startGateway({
    log: (line) => logged.push(line),
    providers: [
      { slug: 'one', base_url: upstream.baseUrl, api_key: SHARED, models: models('tiny', 'large') },
      {
        slug: 'two',
        base_url: `${upstream.baseUrl}/two`,
        api_key: SHARED,
        models: [{ ...models('tiny')[0], pricing: { prompt: '0.001', completion: '0.001' } }],
      },
    ],
    environment: {
      OPENAI_BASE_URL: upstream.baseUrl,
      AWS_REGION: 'eu-west-1',
      AWS_BEDROCK_BASE_URL: `http://127.0.0.1:${cloud.port}`,
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
  await cloud.stop(true)
  expect(logged.length).toBeGreaterThan(0)
  expect(logged.filter((line) => /canary|0123456789/.test(line))).toEqual([])
})
/** Each test brings its own keys along. */
afterEach(async () => {
  asked = []
  refused = {}
  const { data } = objectOf(await (await gateway.manage('GET', '/byok?limit=100')).json())
  for (const row of Array.isArray(data) ? data : []) {
    await gateway.manage('DELETE', `/byok/${objectOf(row)['id']}`)
  }
})

async function makeWorkspace(): Promise<string> {
  const slug = `else-${crypto.randomUUID()}`
  const made = objectOf(await (await gateway.manage('POST', '/workspaces', { name: 'Else', slug })).json())
  return String(objectOf(made['data'])['id'])
}

async function bring(name: string, fields: object = {}): Promise<string> {
  const reply = await gateway.manage('POST', '/byok', { provider: 'one', key: keyOf(name), ...fields })
  const body = objectOf(await reply.json())
  expect([reply.status, body]).toEqual([201, { data: expect.anything() }])
  return String(objectOf(body['data'])['id'])
}
const change = async (id: string, fields: object): Promise<void> =>
  expect((await gateway.manage('PATCH', `/byok/${id}`, fields)).status).toBe(200)

async function ask(model = 'tiny', more: object = {}, key?: string) {
  asked = []
  const body = {
    model,
    max_tokens: 5,
    messages: [{ role: 'user', content: 'Hi' }],
    provider: { only: ['one'] },
    ...more,
  }
  const headers = { authorization: `Bearer ${key ?? API_KEY}` }
  const reply = await gateway.call('/chat/completions', body, headers)
  return { status: reply.status, text: await reply.text(), asked: [...asked] }
}
const askedBy = async (model?: string, more?: object, key?: string): Promise<string[]> =>
  (await ask(model, more, key)).asked

describe('the order of trying', () => {
  const all = { a: 500, b: 500, shared: 500, f: 500 }
  type Row = [what: string, keys: [name: string, fields: object][], refused: object, asked: string[]]
  const rows: Row[] = [
    ['none', [], {}, ['shared']],
    ['one, which answers', [['a', {}]], {}, ['a']],
    ['one that is disabled', [['a', { disabled: true }]], {}, ['shared']],
    [
      'two, in the order of their making',
      [
        ['b', {}],
        ['a', {}],
      ],
      { b: 401 },
      ['b', 'a'],
    ],
    ['one that is refused', [['a', {}]], { a: 401 }, ['a', 'shared']],
    ['one without money', [['a', {}]], { a: 402 }, ['a', 'shared']],
    ['one that may not', [['a', {}]], { a: 403 }, ['a', 'shared']],
    ['one at its rate limit', [['a', {}]], { a: 429 }, ['a', 'shared']],
    [
      'two that are refused',
      [
        ['a', {}],
        ['b', {}],
      ],
      { a: 401, b: 401 },
      ['a', 'b', 'shared'],
    ],
    ['a fallback alone', [['f', { is_fallback: true }]], {}, ['shared']],
    [
      'a fallback behind all others',
      [
        ['f', { is_fallback: true }],
        ['a', {}],
      ],
      { a: 401, shared: 401 },
      ['a', 'shared', 'f'],
    ],
    ['required', [['a', { is_required: true }]], { a: 401 }, ['a']],
    ['only', [['a', { is_byok_only: true }]], { a: 401 }, ['a']],
    ['required for another model', [['a', { is_required: true, allowed_models: ['large'] }]], {}, ['shared']],
    [
      'required for this one',
      [['a', { is_required: true, allowed_models: ['tiny'] }]],
      { a: 500 },
      ['a', 'a'],
    ],
    ['for another model', [['a', { allowed_models: ['large'] }]], {}, ['shared']],
    ['for a model by its name here', [['a', { allowed_models: ['one/tiny'] }]], {}, ['a']],
    ['for no model', [['a', { allowed_models: [] }]], {}, ['shared']],
    ['for nobody', [['a', { allowed_user_ids: [] }]], {}, ['shared']],
    ['of another provider', [['a', { provider: 'openai' }]], {}, ['shared']],
    [
      'a second one that requires',
      [
        ['a', {}],
        ['b', { is_required: true }],
      ],
      { a: 401, b: 401 },
      ['a', 'b'],
    ],
    [
      'all of them fail',
      [
        ['a', {}],
        ['f', { is_fallback: true }],
      ],
      all,
      ['a', 'shared', 'f', 'f'],
    ],
  ]
  test.each(rows)('%s', async (_, keys, refusals, expected) => {
    for (const [name, fields] of keys) await bring(name, fields)
    refused = { ...refusals }
    const reply = await ask()
    expect(reply.asked).toEqual(expected)
    expect(reply.status === 200).toBe(!expected.every((name) => name in refusals))
    expect(reply.text).not.toContain('0123456789')
  })

  test('streamed alike', async () => {
    await bring('a')
    refused = { a: 401 }
    const body = { model: 'large', stream: true, messages: [{ role: 'user', content: 'Hi' }] }
    const lines = await dataLines(await gateway.call('/chat/completions', body))
    expect([asked, lines.at(-1)]).toEqual([['a', 'shared'], '[DONE]'])
    expect(lines.join('')).toContain('"is_byok":false')
    refused = {}
    await bring('b')
    asked = []
    const again = await dataLines(await gateway.call('/chat/completions', body))
    // The first one has failed once, which is not often enough to leave it alone.
    expect(asked).toEqual(['a'])
    expect(again.join('')).toContain('"is_byok":true')
  })

  test('only: for every model of the provider, also those that it is not for', async () => {
    await bring('a', { is_byok_only: true, allowed_models: ['tiny'] })
    expect(await askedBy('tiny')).toEqual(['a'])
    const shut = await ask('large')
    expect([shut.status, shut.asked]).toEqual([404, []])
    expect(shut.text).toContain('only its BYOK key of one')
  })

  test('own keys go before any provider that is preferred, which is before the rest', async () => {
    await bring('a')
    const order = { provider: { order: ['two', 'one'] } }
    expect(await askedBy('tiny', order)).toEqual(['a'])
    refused = { a: 401 }
    expect(await askedBy('tiny', order)).toEqual(['a', 'shared@two'])
    refused = { a: 401, shared: 500 }
    expect(await askedBy('tiny', { provider: { order: ['two'], allow_fallbacks: false } })).toEqual([
      'shared@two',
      'shared@two',
    ])
  })

  test('without fallbacks the provider of the first one is the only one', async () => {
    await bring('a', { provider: 'two' })
    refused = { a: 401 }
    expect(await askedBy('tiny', { provider: { allow_fallbacks: false } })).toEqual(['a@two', 'shared@two'])
  })

  test('of several models: the own keys of one, its gateway, then those of the next', async () => {
    await bring('a')
    await bring('f', { is_fallback: true, allowed_models: ['tiny'] })
    refused = { a: 500, shared: 500, f: 500 }
    const reply = await ask('tiny', { models: ['tiny', 'large'], model: undefined })
    expect(reply.asked).toEqual(['a', 'shared', 'f', 'a', 'shared', 'shared'])
  })

  test('of two providers in the order of the keys, whatever they cost', async () => {
    await bring('a', { provider: 'two' })
    await bring('b', { provider: 'one' })
    refused = { a: 500, b: 500 }
    expect(await askedBy('tiny', { provider: {} })).toEqual(['a@two', 'b', 'shared'])
    expect((await askedBy('tiny', { provider: { sort: 'price' } })).slice(0, 2)).toEqual(['b', 'a@two'])
  })
})

describe('whom it is for', () => {
  test('keys and people that are named, and no other workspace', async () => {
    const [mine, other] = [await gateway.makeKey({}), await gateway.makeKey({})]
    const foreign = await gateway.makeKey({ workspace_id: await makeWorkspace() })
    const id = await bring('a', { allowed_api_key_hashes: [mine.hash], is_byok_only: true })
    expect(await askedBy('tiny', {}, mine.key)).toEqual(['a'])
    expect(await askedBy('tiny', {}, other.key)).toEqual(['shared'])
    await change(id, { allowed_api_key_hashes: null })
    expect(await askedBy('tiny', {}, other.key)).toEqual(['a'])
    expect(await askedBy('tiny', {}, foreign.key)).toEqual(['shared'])
    const { creatorUserId } = [...gateway.deps.snapshot.current().keysByHash.values()][0] ?? {}
    await change(id, { allowed_user_ids: [creatorUserId] })
    expect(await askedBy('tiny', {}, other.key)).toEqual(['a'])
    await change(id, { allowed_user_ids: [] })
    expect(await askedBy('tiny', {}, other.key)).toEqual(['shared'])
  })

  test('each change holds for the next request', async () => {
    const id = await bring('a')
    expect(await askedBy()).toEqual(['a'])
    await change(id, { disabled: true })
    expect(await askedBy()).toEqual(['shared'])
    await change(id, { disabled: false, key: keyOf('b') })
    expect(await askedBy()).toEqual(['b'])
    await change(id, { is_fallback: true })
    expect(await askedBy()).toEqual(['shared'])
    await change(id, { is_fallback: false, is_required: true })
    refused = { b: 403 }
    expect(await askedBy()).toEqual(['b'])
    await gateway.manage('DELETE', `/byok/${id}`)
    expect(await askedBy()).toEqual(['shared'])
  })

  test('a replaced key is not judged by the one before it', async () => {
    const id = await bring('a')
    refused = { a: 401 }
    for (let time = 0; time < 5; time++) expect(await askedBy()).toEqual(['a', 'shared'])
    // It has failed five times: it is left alone for a while, and the gateway's own is not.
    expect(await askedBy()).toEqual(['shared'])
    await change(id, { key: keyOf('b') })
    expect(await askedBy()).toEqual(['b'])
  })

  test('when it is the only one that may be used, the caller hears whose key was refused', async () => {
    await bring('a', { is_required: true })
    refused = { a: 401 }
    const uptime = gateway.deps.measurements.of('one/tiny')?.uptime5m
    const reply = await ask()
    expect([reply.status, reply.text]).toEqual([
      502,
      expect.stringContaining("one rejected the workspace's BYOK key"),
    ])
    expect(reply.text).not.toMatch(/canary|Refused/)
    // Its failures say nothing of the endpoint, which other workspaces use too.
    expect(gateway.deps.measurements.of('one/tiny')?.uptime5m).toBe(uptime)
  })

  test('what is agreed on retention holds with this key alone', async () => {
    const strict = { provider: { zdr: true, only: ['openai'] } }
    await bring('a', { provider: 'openai' })
    expect((await ask('openai/gpt-4o-mini', strict)).status).toBe(404)
    await bring('b', { provider: 'openai', declared_zdr: true })
    expect(await askedBy('openai/gpt-4o-mini', strict)).toEqual(['b'])
    // On the own machine nothing is retained, unless the account says otherwise.
    await bring('c', { declared_zdr: false })
    expect(await askedBy('tiny', { provider: { zdr: true, only: ['one'] } })).toEqual(['shared'])
  })

  test('guardrails hold for own keys too', async () => {
    await bring('a')
    const { key, hash } = await gateway.makeKey({})
    const made = objectOf(
      await (
        await gateway.manage('POST', '/guardrails', { name: 'Strict', ignored_providers: ['one'] })
      ).json(),
    )
    const rail = objectOf(made['data'])['id']
    await gateway.manage('POST', `/guardrails/${rail}/assignments/keys`, { key_hashes: [hash] })
    expect(await ask('large', {}, key)).toMatchObject({ status: 403, asked: [] })
  })
})

describe('a provider that the gateway has no credential for', () => {
  const MODEL = 'openai/gpt-4o-mini'
  async function listed(path: string, key?: string): Promise<unknown[]> {
    const headers = { authorization: `Bearer ${key ?? API_KEY}` }
    const { data } = objectOf(await (await gateway.call(path, undefined, headers)).json())
    return Array.isArray(data) ? data.map((model) => objectOf(model)['id']) : []
  }

  test('is called with the own key of who has one; lists and routing agree', async () => {
    const { key } = await gateway.makeKey({})
    const foreign = await gateway.makeKey({ workspace_id: await makeWorkspace() })
    const open = { provider: {} }
    const unknown = await ask(MODEL, open, key)
    expect(unknown.status).toBe(404)
    const id = await bring('a', { provider: 'openai', allowed_models: [MODEL] })
    expect(await ask(MODEL, open, key)).toMatchObject({ status: 200, asked: ['a'] })
    expect(await ask('gpt-4o-mini', open, key)).toMatchObject({ status: 200, asked: ['a'] })
    expect(await ask(`${MODEL}:floor`, open, key)).toMatchObject({ status: 200, asked: ['a'] })
    expect(await listed('/models/user?limit=1000', key)).toContain(MODEL)
    // It is for one model alone, and for one workspace alone.
    expect(await listed('/models/user?limit=1000', key)).not.toContain('openai/gpt-4o')
    expect((await ask('openai/gpt-4o', open, key)).status).toBe(404)
    expect(await listed('/models/user?limit=1000', foreign.key)).not.toContain(MODEL)
    const { status, text } = await ask(MODEL, open, foreign.key)
    expect([status, text.replace(/req-\w+/, '')]).toEqual([404, unknown.text.replace(/req-\w+/, '')])
    expect(await listed('/models', key)).not.toContain(MODEL)
    const details = async (model: string, of: string): Promise<number> =>
      (await gateway.call(`/models/${model}/endpoints`, undefined, { authorization: `Bearer ${of}` })).status
    expect([await details(MODEL, key), await details('openai/gpt-4o', key)]).toEqual([200, 404])
    expect(await details(MODEL, foreign.key)).toBe(404)
    await change(id, { disabled: true })
    expect((await ask(MODEL, open, key)).status).toBe(404)
    expect(await listed('/models/user?limit=1000', key)).not.toContain(MODEL)
  })

  test('where a cloud signs its calls, with an own access key', async () => {
    const key = JSON.stringify({ accessKeyId: 'AKIAOWNKEY', secretAccessKey: 'canary-0123456789' })
    await bring('', { provider: 'amazon-bedrock', key })
    const model = 'anthropic/claude-sonnet-4.5'
    const reply = await ask(model, { provider: { only: ['amazon-bedrock'] } })
    expect([reply.status, reply.text]).toEqual([502, expect.stringContaining("the workspace's BYOK key")])
    expect(signed.at(-1)).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIAOWNKEY\/\d{8}\/eu-west-1\/bedrock\//)
    expect(reply.text).not.toContain('canary')
    expect(await listed('/models/user?limit=1000')).toContain(model)
  })

  test('what the gateway serves already has one more endpoint with it, and no other name', async () => {
    const before = await listed('/models/user?limit=1000')
    await bring('a', { provider: 'openai' })
    const after = await listed('/models/user?limit=1000')
    expect(after.length).toBeGreaterThan(before.length)
    expect(after).toEqual(expect.arrayContaining(before))
    expect(await askedBy('tiny')).toEqual(['shared'])
  })

  test('lists leave out what the own key shuts', async () => {
    await bring('a', { is_byok_only: true, allowed_models: ['tiny'] })
    const ids = await listed('/models/user')
    expect([ids.includes('tiny'), ids.includes('large')]).toEqual([true, false])
  })
})
