import { beforeEach, describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { API_KEY } from '../gateway.ts'
import { type Answer, startUpstream, streamed, unary } from '../upstream.ts'
import { ON } from './response-cache-setup.ts'

/** Which keys share cached answers. */

/** The credentials of the calls, in order. */
let asked: string[] = []
let turn = 0

const PRICES = { prompt: '0.000001', completion: '0.000002' }
const models = ['tiny', 'answers'].map((id) => ({ id, pricing: PRICES }))

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    providers: [
      { slug: 'one', base_url: upstream.baseUrl, api_key: 'one', models },
      {
        slug: 'two',
        base_url: upstream.baseUrl,
        api_key: 'two',
        models: [{ ...models[0], pricing: { prompt: '0.001', completion: '0.001' } }],
      },
    ],
  },
  upstream,
)
gateway.deps.run.wait = async () => undefined
beforeEach(() => {
  turn += 1
  asked = []
  upstream.on('tiny', named)
})

const named: Answer = (seen, request) => {
  const name = seen.headers.get('authorization')?.replace('Bearer ', '') ?? ''
  asked.push(name)
  return (seen.body['stream'] === true ? streamed(['By ', name]) : unary(`By ${name}`))(seen, request)
}

async function ask(key: string, more: object = {}) {
  const body = {
    model: 'tiny',
    provider: { sort: 'price' },
    messages: [{ role: 'user', content: `Question ${turn}` }],
    ...more,
  }
  const response = await gateway.call('/chat/completions', body, { ...ON, authorization: `Bearer ${key}` })
  const { choices } = await response.json()
  return [response.headers.get('x-openrouter-cache-status'), choices?.[0].message.content]
}
const dataOf = async (response: Response): Promise<Record<string, unknown>> => {
  const body = objectOf(await response.json())
  expect(body).not.toHaveProperty('error')
  return objectOf(body['data'])
}
async function guarded(fields: object) {
  const { key, hash, guardrailId } = await gateway.makeGuardedKey(fields)
  return { key, hash, change: (more: object) => gateway.manage('PATCH', `/guardrails/${guardrailId}`, more) }
}

describe('keys of one workspace', () => {
  test('share their answers', async () => {
    const { key } = await gateway.makeKey({})
    expect(await ask(API_KEY)).toEqual(['MISS', 'By one'])
    expect(await ask(key)).toEqual(['HIT', 'By one'])
  })

  test('have their own answers if one may not use the provider', async () => {
    const { key } = await guarded({ ignored_providers: ['one'] })
    expect(await ask(API_KEY)).toEqual(['MISS', 'By one'])
    expect(await ask(key)).toEqual(['MISS', 'By two'])
    expect(await ask(key)).toEqual(['HIT', 'By two'])
    expect(await ask(API_KEY)).toEqual(['HIT', 'By one'])
  })

  test('share no answer with a key that may not use the model, which gets the error', async () => {
    const { key } = await guarded({ allowed_models: ['answers'] })
    await ask(API_KEY)
    expect(await ask(key)).toEqual([null, undefined])
  })

  test('share their answers if their rules are equal, even if a budget differs', async () => {
    const first = await guarded({ ignored_providers: ['one'] })
    const second = await guarded({ ignored_providers: ['one'], limit_usd: 5, reset_interval: 'daily' })
    const free = await guarded({ limit_usd: 5, reset_interval: 'daily' })
    await ask(first.key)
    expect(await ask(second.key)).toEqual(['HIT', 'By two'])
    await ask(API_KEY)
    expect(await ask(free.key)).toEqual(['HIT', 'By one'])
  })

  test('have no earlier answers after their rules change', async () => {
    const { key, change } = await guarded({ ignored_models: ['answers'] })
    await ask(key)
    expect((await ask(key))[0]).toBe('HIT')
    await change({ ignored_providers: ['one'] })
    expect(await ask(key)).toEqual(['MISS', 'By two'])
  })

  test('share answers to requests that are equal after redaction', async () => {
    const { key } = await guarded({ content_filters: [{ pattern: 'code-[a-z]+', action: 'redact' }] })
    const of = (text: string) => ask(key, { messages: [{ role: 'user', content: text }] })
    expect((await of('My code-abc'))[0]).toBe('MISS')
    expect((await of('My code-xyz'))[0]).toBe('HIT')
    expect((await ask(API_KEY, { messages: [{ role: 'user', content: 'My code-abc' }] }))[0]).toBe('MISS')
  })

  test('share no answer with a key that forbids retention', async () => {
    const { key } = await guarded({ enforce_zdr_anthropic: true })
    await ask(API_KEY)
    expect(await ask(key)).toEqual([null, 'By one'])
    expect(await ask(key)).toEqual([null, 'By one'])
  })
})

test('workspaces never share answers', async () => {
  const { id } = await dataOf(await gateway.manage('POST', '/workspaces', { name: 'Other', slug: 'other' }))
  const there = await gateway.makeKey({ workspace_id: id })
  expect((await ask(API_KEY))[0]).toBe('MISS')
  expect((await ask(there.key))[0]).toBe('MISS')
  expect((await ask(there.key))[0]).toBe('HIT')
  expect(asked).toEqual(['one', 'one'])
})

test('an answer of a BYOK key is shared by the keys that may use it', async () => {
  const { id: workspace } = await dataOf(
    await gateway.manage('POST', '/workspaces', { name: 'Own', slug: 'own' }),
  )
  const first = await gateway.makeKey({ workspace_id: workspace })
  const second = await gateway.makeKey({ workspace_id: workspace })
  const own = await dataOf(
    await gateway.manage('POST', '/byok', {
      provider: 'one',
      key: 'sk-own-0123456789',
      workspace_id: workspace,
      allowed_api_key_hashes: [first.hash],
    }),
  )
  expect(await ask(first.key)).toEqual(['MISS', 'By sk-own-0123456789'])
  expect(await ask(first.key)).toEqual(['HIT', 'By sk-own-0123456789'])
  expect(gateway.generations().at(-1)).toMatchObject({ is_byok: 0, cost_nano_usd: 0 })
  expect(await ask(second.key)).toEqual(['MISS', 'By one'])
  await gateway.manage('DELETE', `/byok/${own['id']}`)
  expect(await ask(first.key)).toEqual(['HIT', 'By one'])
})

test('an answer is not served after its provider is removed', async () => {
  await ask(API_KEY)
  const { snapshot } = gateway.deps
  const current = snapshot.current()
  const without = new Map([...current.providersBySlug].filter(([slug]) => slug !== 'one'))
  snapshot.current = () => ({ ...current, providersBySlug: without })
  expect(await ask(API_KEY)).toEqual(['MISS', 'By two'])
  snapshot.current = () => current
})

describe('cached responses', () => {
  const respond = async (more: object, headers: Record<string, string> = ON) => {
    const body = { model: 'tiny', input: `Question ${turn}`, ...more }
    const response = await gateway.call('/responses', body, headers)
    return {
      cache: response.headers.get('x-openrouter-cache-status'),
      reply: objectOf(await response.json()),
    }
  }

  test('that are stored are served again, and stored under ids of their own', async () => {
    const first = await respond({ store: true, metadata: { of: 'the first' } })
    const second = await respond({ store: true, metadata: { of: 'the second' } })
    const third = await respond({})
    expect([first.cache, second.cache, third.cache]).toEqual(['MISS', 'HIT', 'HIT'])
    expect(second.reply['id']).not.toBe(first.reply['id'])
    expect(second.reply).toMatchObject({ metadata: { of: 'the second' }, store: true })
    expect(third.reply).toMatchObject({ metadata: {}, store: false })
    const status = async ({ reply }: typeof first) => (await gateway.call(`/responses/${reply['id']}`)).status
    expect([await status(first), await status(second), await status(third)]).toEqual([200, 200, 404])
    const next = await respond({ previous_response_id: second.reply['id'], input: 'And then?' })
    expect([next.cache, next.reply['status']]).toEqual([null, 'completed'])
    const sent = upstream.seen.at(-1)?.body['messages']
    expect(Array.isArray(sent) && sent.length).toBe(3)
  })

  test('are not used for the background', async () => {
    await respond({})
    const { cache, reply } = await respond({ background: true })
    expect([cache, reply['status']]).toEqual([null, 'queued'])
    await gateway.deps.responses.background.find(String(reply['id']))?.ended
    expect(asked.length).toBe(2)
  })
})

test('a request that echoes the upstream body is always sent', async () => {
  const echo = { stream: true, debug: { echo_upstream_body: true } }
  const body = { model: 'tiny', messages: [{ role: 'user', content: 'Echo' }], ...echo }
  for (let count = 0; count < 2; count++) {
    const reply = await gateway.call('/chat/completions', body, ON)
    expect(reply.headers.get('x-openrouter-cache-status')).toBeNull()
    expect(await reply.text()).toContain('echo_upstream_body')
  }
  expect(asked.length).toBe(2)
})
