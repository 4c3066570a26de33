/** A gateway with every route of inference, and keys of which each thing that can limit them. The clock is the test's. */
import { beforeEach, expect } from 'bun:test'
import { atomically } from '../../src/db/database.ts'
import { users } from '../../src/db/tables.ts'
import { objectOf } from '../../src/http/json.ts'
import { gatewayOfFile } from '../file-setup.ts'
import type { Gateway } from '../gateway.ts'
import { frames, sse, unary } from '../upstream.ts'

export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** A complete reply: 10 tokens in, 5 out. */
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

/** A provider whose replies below `/broken` fail; counts the calls. */
function startProvider() {
  const provider = { calls: 0 }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      provider.calls += 1
      const { pathname } = new URL(request.url)
      if (pathname.startsWith('/broken')) return new Response('no', { status: 500 })
      if (pathname.endsWith('/chat/completions')) return chat((await request.json()).stream === true)
      await request.bytes()
      const answer = Object.entries(ANSWERS).find(([end]) => pathname.endsWith(end))?.[1]
      return (answer ?? picture)()
    },
  })
  const stop = () => server.stop(true)
  const at = (path: string) => `http://127.0.0.1:${server.port}/${path}/v1`
  return { provider, at, stop }
}

const PRICING = {
  prompt: '0.000001',
  completion: '0.000001',
  request: '0.001',
  image: '0.01',
  audio_second: '0.0001',
}
const model = (id: string) => ({ id, pricing: PRICING })

type Limits = Record<string, unknown>
export interface Route {
  path: string
  body: object
  name?: string
  isMessages?: boolean
}
export interface Answer {
  status: number
  text: string
  headers: Headers
}
export const MESSAGES = [{ role: 'user', content: 'Hi there' }]
export const CHAT = { path: '/chat/completions', body: { messages: MESSAGES } }
export const messageOf = ({ text }: Answer): string =>
  String(objectOf(objectOf(JSON.parse(text))['error'])['message'])

/** Asks with a key, in one route or several times. */
const askWith = (gateway: Gateway) => {
  async function ask(key: string, { path, body }: Route = CHAT, more: object = {}): Promise<Answer> {
    const response = await gateway.call(
      path,
      { model: 'tiny', ...body, ...more },
      { authorization: `Bearer ${key}` },
    )
    const text = await response.text()
    return { status: response.status, text, headers: response.headers }
  }
  async function statuses(key: string, times: number, more: object = {}): Promise<number[]> {
    const list: number[] = []
    for (let time = 0; time < times; time++) list.push((await ask(key, CHAT, more)).status)
    return list
  }
  /** Waits for requests that run without their callers. */
  async function idle(): Promise<void> {
    while (gateway.deps.run.running.count() > 0) await Bun.sleep(1)
    expect([gateway.deps.run.rates.held(), gateway.deps.ledger.heldNanoUsd()]).toEqual([0, 0])
  }
  return { ask, statuses, idle }
}

/** Administration that expects no error. */
const manageWith = (gateway: Gateway) => {
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
  return { dataOf, newWorkspace }
}

/** Everything that can limit a key: makes such a key; `says` is how a refusal names the limit. */
const gatesOf = (gateway: Gateway, { dataOf, newWorkspace }: ReturnType<typeof manageWith>) => {
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
  return gates
}

export async function startForRateLimits() {
  const clock = { now: Date.UTC(2026, 6, 15, 12) }
  const { provider, at, stop } = startProvider()
  const gateway = await gatewayOfFile(
    {
      now: () => clock.now,
      providers: [
        { slug: 'lab', base_url: at('lab'), models: ['tiny', 'large', 'spare'].map(model) },
        { slug: 'broken', base_url: at('broken'), models: [model('breaks')] },
      ],
      models: [{ id: 'tiny', aliases: ['little'] }],
    },
    { stop },
  )
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
  beforeEach(() => {
    clock.now += 3_600_000
  })
  const managed = manageWith(gateway)
  return { clock, provider, gateway, gates: gatesOf(gateway, managed), ...managed, ...askWith(gateway) }
}
