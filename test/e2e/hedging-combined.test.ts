import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { type Answer, dataLines, startUpstream, streamed, unary } from '../upstream.ts'
import { CLEAN, SAID, WORDS } from './output-filters-replies.ts'
import { calls, says } from './server-tools/setup.ts'

/** Hedged requests with output filters, BYOK keys and server tools: one answer, and every call is charged once. */

const upstream = startUpstream()
const PROMPT = 10_000
const COMPLETION = 20_000
/** Of a reply of 10 tokens in and 5 out, in nano-dollars. */
const ANSWER = 10 * PROMPT + 5 * COMPLETION
const SHARED = 'sk-shared'
const BYOK = 'sk-byok-0123456789'

const gateway = await gatewayOfFile(
  {
    providers: ['slow', 'fast'].map((slug) => ({
      slug,
      base_url: `${upstream.baseUrl}/${slug}`,
      api_key: SHARED,
      models: [
        { id: 'tiny', max_completion_tokens: 100, pricing: { prompt: '0.00001', completion: '0.00002' } },
      ],
    })),
  },
  upstream,
)
const { run } = gateway.deps
run.wait = async () => undefined

/** The providers that were called, with `+byok` for a BYOK key, and those whose call the gateway aborted. */
let called: string[] = []
let aborted: string[] = []
const FAST: Answer[] = []
const callsOf = (slug: string) => called.filter((call) => call.startsWith(slug)).length
upstream.on('tiny', async (seen, request) => {
  const slug = seen.path.includes('/slow/') ? 'slow' : 'fast'
  called.push(seen.headers.get('authorization') === `Bearer ${BYOK}` ? `${slug}+byok` : slug)
  const answer = slug === 'fast' ? FAST.shift() : undefined
  if (answer) {
    // Both are called before one of them answers.
    while (callsOf('slow') < callsOf('fast')) await Bun.sleep(1)
    return answer(seen, request)
  }
  request.signal.addEventListener('abort', () => aborted.push(slug))
  return new Promise<Response>(() => undefined)
})

const ask = async (key: string, more: object = {}) => {
  const body = {
    model: 'tiny',
    max_tokens: 50,
    messages: [{ role: 'user', content: 'Hi' }],
    provider: { order: ['slow', 'fast'], hedge_ms: 300 },
    ...more,
  }
  const reply = await gateway.call('/chat/completions', body, { authorization: `Bearer ${key}` })
  const id = reply.headers.get('x-generation-id') ?? ''
  if (!('stream' in body && body.stream === true)) return { id, json: objectOf(await reply.json()) }
  const events = (await dataLines(reply)).filter((line) => line !== '[DONE]').map((line) => JSON.parse(line))
  return {
    id,
    json: objectOf(events.at(-1)),
    text: events.map(({ choices }) => choices[0]?.delta.content ?? '').join(''),
    ends: events.flatMap(({ choices }) => choices[0]?.finish_reason ?? []),
  }
}

/** The rows of a request, when there are as many, the caller's first. */
async function rowsOf(id: string, count: number) {
  const own = () => gateway.generations().filter((row) => row['id'] === id || row['parent_id'] === id)
  while (own().length < count) await Bun.sleep(1)
  return own().toSorted((left, right) => Number(right['id'] === id) - Number(left['id'] === id))
}
type Row = Awaited<ReturnType<typeof rowsOf>>[number]
/** A call that lost is charged its estimated prompt and nothing else. */
const lostCost = (row: Row | undefined): number => {
  expect(row).toMatchObject({
    provider_slug: 'slow',
    cancelled: 1,
    usage_source: 'estimated',
    tokens_completion: 0,
  })
  const cost = Number(row?.['tokens_prompt']) * PROMPT
  expect([Number(row?.['cost_nano_usd']), cost > 0]).toEqual([cost, true])
  return cost
}
const nanoOf = (usage: unknown): number => Math.round(Number(objectOf(usage)['cost']) * 1e9)
/** What the key has spent, as its holder reads it. */
async function spentBy(key: string) {
  const reply = await gateway.call('/key', undefined, { authorization: `Bearer ${key}` })
  const { usage, byok_usage } = objectOf(objectOf(await reply.json())['data'])
  return [usage, byok_usage].map((usd) => Math.round(Number(usd) * 1e9))
}

beforeEach(() => {
  called = []
  aborted = []
  FAST.length = 0
})
afterEach(async () => {
  for (let tries = 0; tries < 1_000 && run.ledger.heldNanoUsd() > 0; tries++) await Bun.sleep(1)
  expect(run.ledger.heldNanoUsd()).toBe(0)
})

describe('with an output filter', () => {
  const guarded = (action: string) =>
    gateway.makeGuardedKey({ content_filter_builtins: [{ slug: 'email', action, apply_to: 'output' }] })

  test.each([false, true])(
    'the answer is redacted, and both calls are charged (streamed: %p)',
    async (stream) => {
      FAST.push(stream ? streamed([...WORDS]) : unary(SAID))
      const { key } = await guarded('redact')
      const { id, json, text } = await ask(key, { stream })
      const [winner, loser, ...others] = await rowsOf(id, 2)
      const delivered = stream ? text : objectOf(objectOf([json['choices']].flat()[0])['message'])['content']
      expect([delivered, called.toSorted(), others]).toEqual([CLEAN, ['fast', 'slow'], []])
      expect(winner).toMatchObject({ provider_slug: 'fast', cost_nano_usd: ANSWER, usage_source: 'provider' })
      const total = ANSWER + lostCost(loser)
      expect([nanoOf(json['usage']), await spentBy(key)]).toEqual([total, [total, 0]])
      while (aborted.length === 0) await Bun.sleep(1)
      expect(aborted).toEqual(['slow'])
    },
  )

  test('a blocked answer ends the stream once, and both calls are charged', async () => {
    FAST.push(streamed([...WORDS]))
    const { key } = await guarded('block')
    const { id, text, ends, json } = await ask(key, { stream: true })
    const [winner, loser] = await rowsOf(id, 2)
    expect([text?.includes('@site'), ends]).toEqual([false, ['content_filter']])
    expect(winner).toMatchObject({ provider_slug: 'fast' })
    const total = Number(winner?.['cost_nano_usd']) + lostCost(loser)
    expect([nanoOf(json['usage']), await spentBy(key)]).toEqual([total, [total, 0]])
  })
})

describe('with a BYOK key', () => {
  /** A workspace with a BYOK key of this provider. */
  async function space(provider: string): Promise<string> {
    const slug = `space-${crypto.randomUUID()}`
    const made = await (await gateway.manage('POST', '/workspaces', { name: slug, slug })).json()
    const workspace = objectOf(objectOf(made)['data'])['id']
    const body = { provider, key: BYOK, workspace_id: workspace }
    expect((await gateway.manage('POST', '/byok', body)).status).toBe(201)
    return (await gateway.makeKey({ workspace_id: workspace })).key
  }

  test('of the endpoint that loses, its workspace pays the vendor for the lost call', async () => {
    const key = await space('slow')
    FAST.push(unary('Hello'))
    const { id, json } = await ask(key)
    const [winner, loser] = await rowsOf(id, 2)
    expect(called.toSorted()).toEqual(['fast', 'slow+byok'])
    expect([winner?.['is_byok'], loser?.['is_byok']]).toEqual([0, 1])
    const lost = lostCost(loser)
    expect([nanoOf(json['usage']), await spentBy(key)]).toEqual([ANSWER, [ANSWER, lost]])
  })

  test('of the endpoint that answers, the gateway is paid for the lost call', async () => {
    const key = await space('fast')
    FAST.push(unary('Hello'))
    const { id, json } = await ask(key)
    const [winner, loser] = await rowsOf(id, 2)
    // A BYOK key is used before the gateway's credentials.
    expect(called.toSorted()).toEqual(['fast+byok', 'slow'])
    expect([winner?.['is_byok'], loser?.['is_byok']]).toEqual([1, 0])
    const lost = lostCost(loser)
    expect([nanoOf(json['usage']), await spentBy(key)]).toEqual([lost, [lost, ANSWER]])
  })
})

describe('in a tool loop', () => {
  test.each([false, true])(
    'each step is hedged, and all calls are charged once (streamed: %p)',
    async (stream) => {
      FAST.push(calls([{ name: 'calculator', args: { expression: '6 * 7' } }]), says('It is 42.'))
      const { key } = await gateway.makeKey({})
      const { id, json, text } = await ask(key, { stream, tools: [{ type: 'openrouter:calculator' }] })
      const rows = await rowsOf(id, 4)
      const delivered = stream ? text : objectOf(objectOf([json['choices']].flat()[0])['message'])['content']
      expect([delivered, called.toSorted(), rows.length]).toEqual([
        'It is 42.',
        ['fast', 'fast', 'slow', 'slow'],
        4,
      ])
      const answers = rows.filter((row) => row['provider_slug'] === 'fast')
      expect(answers.map((row) => row['cost_nano_usd'])).toEqual([ANSWER, ANSWER])
      expect(answers.map((row) => row['finish_reason']).sort()).toEqual(['stop', 'tool_calls'])
      const lost = rows.filter((row) => row['provider_slug'] === 'slow').map(lostCost)
      const total = 2 * ANSWER + lost.reduce((sum, cost) => sum + cost, 0)
      expect([lost.length, nanoOf(json['usage']), await spentBy(key)]).toEqual([2, total, [total, 0]])
      while (aborted.length < 2) await Bun.sleep(1)
      expect(aborted).toEqual(['slow', 'slow'])
    },
  )
})
