import { describe, expect, test } from 'bun:test'
import { gatewayOfFile } from '../file-setup.ts'
import { startUpstream } from '../upstream.ts'

/** Prices of service tiers and of hours, from the reservation to the record of the generation. */

const NOON = Date.UTC(2026, 2, 11, 12)
let now = NOON

const upstream = startUpstream()
const pricing = {
  prompt: '0.000001',
  completion: '0.00001',
  request: '0.001',
  service_tiers: {
    flex: { prompt: '0.0000005', completion: '0.000005' },
    priority: { completion: '0.00002' },
  },
}
const night = { from: '16:30', until: '00:30', prices: { completion: '0.0000025' } }
const provider = (slug: string, dialect: string, models: object[]) => ({
  slug,
  dialect,
  base_url: upstream.baseUrl,
  models,
})
const gateway = await gatewayOfFile(
  {
    now: () => now,
    environment: { OPENAI_API_KEY: 'sk-x', OPENAI_BASE_URL: upstream.baseUrl },
    models: [
      {
        id: 'openai/gpt-4.1-nano',
        provider: 'openai',
        max_completion_tokens: 1_000,
        pricing,
      },
    ],
    providers: [
      provider('lab', 'chat', [
        { id: 'tiered', max_completion_tokens: 1_000, pricing },
        { id: 'nightly', max_completion_tokens: 1_000, pricing: { ...pricing, hours: [night] } },
      ]),
      provider('claude-lab', 'messages', [{ id: 'tiered-claude', max_completion_tokens: 1_000, pricing }]),
    ],
  },
  upstream,
)

/** 10 tokens in, 5 out. */
const replies = (tier?: string) => () =>
  Response.json({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'm',
    ...(tier === undefined ? {} : { service_tier: tier }),
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Yes.' } }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  })

async function ask(model: string, more: object = {}, limit = 1) {
  const { key } = await gateway.makeKey({ limit })
  const body = { model, messages: [{ role: 'user', content: 'Hello?' }], max_tokens: 100, ...more }
  return gateway.call('/chat/completions', body, { authorization: `Bearer ${key}` })
}

const USUAL = 0.001 + 0.00001 + 0.00005
const FLEX = 0.001 + 0.000005 + 0.000025
const PRIORITY = 0.001 + 0.00001 + 0.0001

describe('a reply is charged in the service tier', () => {
  test.each<[what: string, asked: string | undefined, served: string | undefined, cost: number]>([
    ['that the provider reports: flex', 'flex', 'flex', FLEX],
    ['that the provider reports: priority', 'priority', 'priority', PRIORITY],
    ['that the provider reports, not the requested one', 'priority', 'default', USUAL],
    ['that the provider reports although none was requested', undefined, 'priority', PRIORITY],
    ['that was requested, if the provider reports none', 'flex', undefined, FLEX],
    ['that was requested by its other name', 'fast', undefined, PRIORITY],
    ['that is usual, without any', undefined, undefined, USUAL],
    ['that is usual, for auto', 'auto', undefined, USUAL],
    ['that is usual, for one without a price', 'scale', 'scale', USUAL],
  ])('%s', async (_, asked, served, cost) => {
    upstream.on('tiered', replies(served))
    const reply = await (await ask('tiered', asked === undefined ? {} : { service_tier: asked })).json()
    expect(reply.usage.cost).toBeCloseTo(cost, 9)
    const record = (await (await gateway.manage('GET', `/generation?id=${reply.id}`)).json()).data
    expect(record.total_cost).toBeCloseTo(cost, 9)
    expect(record.service_tier).toBe(served ?? null)
    expect(
      record.provider_responses.map((response: object) => Reflect.get(response, 'routed_service_tier')),
    ).toEqual([served])
  })

  test('that is usual, where the provider is not sent the requested one', async () => {
    upstream.on('tiered-claude', () =>
      Response.json({
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [{ type: 'text', text: 'Yes.' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 10, output_tokens: 5 },
      }),
    )
    const reply = await (await ask('tiered-claude', { service_tier: 'flex' })).json()
    expect(reply.usage.cost).toBeCloseTo(USUAL, 9)
  })
})

describe('the reservation is that of the most expensive tier that may be served', () => {
  // 100 tokens of output and the fee: 0.002 usually, 0.003 at priority; the prompt is less than 0.0001.
  test.each([
    [undefined, 0.0019, 402],
    [undefined, 0.0021, 200],
    ['flex', 0.0019, 402],
    ['flex', 0.0021, 200],
    ['priority', 0.0029, 402],
    ['priority', 0.0031, 200],
    ['auto', 0.0029, 402],
    ['default', 0.0029, 402],
    ['default', 0.0031, 200],
  ])('%s with %d left: %d', async (tier, limit, status) => {
    upstream.on('tiered', replies(tier === 'default' ? 'priority' : 'default'))
    const response = await ask('tiered', tier === undefined ? {} : { service_tier: tier }, limit)
    expect(response.status).toBe(status)
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  })
})

describe('where the account selects the tier of requests that name none', () => {
  test.each([
    [undefined, 'priority', 0.0029, 402],
    [undefined, 'priority', 0.0031, 200],
    ['auto', 'priority', 0.0029, 402],
    // OpenAI's name of its standard tier.
    ['default', 'default', 0.0019, 402],
    ['default', 'default', 0.0021, 200],
    ['flex', 'flex', 0.0021, 200],
  ])('%s, served as %s, with %d left: %d', async (tier, served, limit, status) => {
    upstream.on('gpt-4.1-nano', replies(served))
    const response = await ask('openai/gpt-4.1-nano', tier === undefined ? {} : { service_tier: tier }, limit)
    expect(response.status).toBe(status)
    const { usage } = await response.json()
    const cost = { priority: PRIORITY, default: USUAL, flex: FLEX }[served]
    if (status === 200) expect(usage.cost).toBeCloseTo(cost ?? 0, 9)
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  })
})

describe('hours have their own prices', () => {
  const LATE = 0.001 + 0.00001 + 0.0000125
  test.each<[time: string, cost: number]>([
    ['12:00', USUAL],
    ['16:29', USUAL],
    ['16:30', LATE],
    ['23:59', LATE],
    ['00:00', LATE],
    ['00:29', LATE],
    ['00:30', USUAL],
  ])('at %s', async (time, cost) => {
    const [hours = 0, minutes = 0] = time.split(':').map(Number)
    now = Date.UTC(2026, 2, 12, hours, minutes)
    upstream.on('nightly', replies())
    const reply = await (await ask('nightly')).json()
    now = NOON
    expect(reply.usage.cost).toBeCloseTo(cost, 9)
  })

  test('a service tier with a price costs that price at every hour', async () => {
    now = Date.UTC(2026, 2, 12, 20)
    upstream.on('nightly', replies('flex'))
    const reply = await (await ask('nightly', { service_tier: 'flex' })).json()
    now = NOON
    expect(reply.usage.cost).toBeCloseTo(FLEX, 9)
  })

  test('the list of models shows both', async () => {
    const { data } = await (await gateway.call('/models')).json()
    const [listed] = data.filter((model: object) => Reflect.get(model, 'id') === 'nightly')
    expect(listed.pricing).toMatchObject({
      completion: '0.00001',
      service_tiers: {
        flex: { prompt: '0.0000005', completion: '0.000005', request: '0.001' },
        priority: { prompt: '0.000001', completion: '0.00002' },
      },
      hours: [{ from: '16:30', until: '00:30', prices: { prompt: '0.000001', completion: '0.0000025' } }],
    })
  })
})
