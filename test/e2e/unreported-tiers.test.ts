import { describe, expect, test } from 'bun:test'
import { gatewayOfFile } from '../file-setup.ts'
import { frames, paced, startUpstream } from '../upstream.ts'

/** The service tier that is charged if the provider reports none, or has not reported it yet. */

const upstream = startUpstream()
const prices = (prompt: string, completion: string) => ({ prompt, completion })
const pricing = {
  ...prices('0.00001', '0.00002'),
  service_tiers: { flex: prices('0.000005', '0.00001'), priority: prices('0.00002', '0.00004') },
}
const FACTORS = { usual: 1, flex: 0.5, priority: 2 }
const entry = (slug: string, more: object = {}) => ({
  slug,
  base_url: `${upstream.baseUrl}/${slug}`,
  models: [{ id: 'tiny', max_completion_tokens: 1_000, pricing }],
  ...more,
})
const gateway = await gatewayOfFile(
  {
    providers: [
      entry('lab'),
      entry('claude-lab', { dialect: 'messages' }),
      entry('fast'),
      entry('prompt', { account_tier: 'priority' }),
      entry('prompt-claude', { dialect: 'messages', account_tier: 'priority' }),
      entry('unsure', { account_tier: 'any' }),
    ],
  },
  upstream,
)
type Tier = keyof typeof FACTORS
const reply = (path: string, tier: string | undefined): Response =>
  Response.json(
    path.endsWith('/messages')
      ? {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [{ type: 'text', text: 'Yes.' }],
          stop_reason: 'end_turn',
          usage: { input_tokens: 10, output_tokens: 5 },
        }
      : {
          ...(tier === undefined ? {} : { service_tier: tier }),
          choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Yes.' } }],
          usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
        },
  )
const ask = async (slug: string, more: object, limit = 1, signal = new AbortController().signal) => {
  const { key } = await gateway.makeKey({ limit })
  const body = {
    model: 'tiny',
    provider: { only: [slug] },
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Hello?' }],
    ...more,
  }
  return gateway.abortable('/chat/completions', body, { authorization: `Bearer ${key}` }, signal)
}
const named = (tier: string | undefined): object => (tier === undefined ? {} : { service_tier: tier })

describe('a complete reply', () => {
  test.each<[slug: string, asked: string | undefined, served: string | undefined, charged: Tier]>([
    ['lab', undefined, undefined, 'usual'],
    ['lab', 'flex', 'auto', 'flex'],
    ['prompt', undefined, undefined, 'priority'],
    ['prompt', undefined, 'default', 'usual'],
    ['prompt', 'auto', 'auto', 'priority'],
    ['prompt', 'default', undefined, 'usual'],
    ['prompt', 'flex', undefined, 'flex'],
    ['prompt', 'flex', 'priority', 'priority'],
    ['prompt-claude', 'flex', undefined, 'priority'],
    ['unsure', undefined, undefined, 'usual'],
    ['unsure', undefined, 'priority', 'priority'],
  ])('%s, asked for %s, served as %s: %s', async (slug, asked, served, charged) => {
    upstream.on('tiny', ({ path }) => reply(path, served))
    const { usage } = await (await ask(slug, named(asked))).json()
    expect(usage.cost).toBeCloseTo(0.0002 * FACTORS[charged], 9)
  })
})

describe('the reservation', () => {
  // 100 tokens of output: 0.002 usually, 0.004 at priority; the prompt is less than 0.0004.
  test.each<[slug: string, asked: string | undefined, limit: number, status: number]>([
    ['lab', undefined, 0.0025, 200],
    ['prompt', undefined, 0.0039, 402],
    ['prompt', undefined, 0.0045, 200],
    ['prompt', 'flex', 0.0039, 402],
    ['prompt-claude', 'flex', 0.0039, 402],
    ['unsure', undefined, 0.0039, 402],
    ['unsure', 'default', 0.0025, 200],
  ])('%s, asked for %s, with %d left: %d', async (slug, asked, limit, status) => {
    upstream.on('tiny', ({ path }) => reply(path, undefined))
    expect((await ask(slug, named(asked), limit)).status).toBe(status)
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  })
})

const rowsAfter = async (count: number) => {
  while (gateway.generations().length < count || gateway.deps.ledger.heldNanoUsd() > 0) await Bun.sleep(1)
  return gateway.generations()
}
const costOf = async (before: number, rows: number, where: (row: Record<string, unknown>) => boolean) =>
  Number((await rowsAfter(before + rows)).filter(where).at(-1)?.['cost_nano_usd'])

describe('a client that disconnects', () => {
  async function left(slug: string, asked: string | undefined, chunks: string[]): Promise<number> {
    const before = gateway.generations().length
    const arrived = Promise.withResolvers<void>()
    upstream.on('tiny', () => {
      arrived.resolve()
      return paced(chunks, 'hang')
    })
    const leaving = new AbortController()
    const asking = ask(slug, { ...named(asked), stream: true }, 1, leaving.signal).catch(() => null)
    await arrived.promise
    if (chunks.length > 0) await (await asking)?.body?.getReader().read()
    else await Bun.sleep(20)
    leaving.abort()
    await asking
    return costOf(before, 1, ({ provider_slug }) => provider_slug === slug)
  }
  const words = (tier: string | undefined): string[] =>
    frames(['Hello', ' you'])
      .slice(0, 2)
      .map((chunk) =>
        tier === undefined ? chunk : chunk.replace('data: {', `data: {"service_tier":"${tier}",`),
      )

  test.each<[slug: string, asked: string | undefined, chunks: string[], charged: Tier]>([
    ['lab', undefined, words('priority'), 'priority'],
    ['lab', 'priority', words('default'), 'usual'],
    ['lab', 'flex', words(undefined), 'flex'],
    ['lab', 'flex', [], 'flex'],
    ['prompt', undefined, [], 'priority'],
    ['claude-lab', 'flex', [], 'usual'],
    ['unsure', undefined, words(undefined), 'usual'],
  ])('from %s, asked for %s, after %j: %s', async (slug, asked, chunks, charged) => {
    const usual = await left('lab', undefined, chunks.length === 0 ? [] : words(undefined))
    expect(usual).toBeGreaterThan(0)
    expect(await left(slug, asked, chunks)).toBe(usual * FACTORS[charged])
  })
})

describe('a second endpoint answers first: the call that lost', () => {
  async function lost(slow: string, asked: string | undefined): Promise<number> {
    const before = gateway.generations().length
    upstream.on('tiny', ({ path }) =>
      path.includes('/fast/') ? reply(path, undefined) : new Promise<Response>(() => undefined),
    )
    const provider = { only: [slow, 'fast'], order: [slow, 'fast'], hedge_ms: 1 }
    expect((await ask(slow, { ...named(asked), provider })).status).toBe(200)
    return costOf(before, 2, ({ provider_slug }) => provider_slug === slow)
  }

  test.each<[slow: string, asked: string | undefined, charged: Tier]>([
    ['lab', 'flex', 'flex'],
    ['lab', 'priority', 'priority'],
    ['claude-lab', 'flex', 'usual'],
    ['prompt', undefined, 'priority'],
    ['unsure', undefined, 'usual'],
  ])('at %s, asked for %s: %s', async (slow, asked, charged) => {
    const usual = await lost('lab', undefined)
    expect(usual).toBeGreaterThan(0)
    expect(await lost(slow, asked)).toBe(usual * FACTORS[charged])
  })
})
