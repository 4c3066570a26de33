import { afterAll, beforeAll, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { labOf } from '../file-setup.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { type FakeUpstream, frames, sse, startUpstream, unary } from '../upstream.ts'

/**
 * Filters on answers, rates, the log of contents, the cache and stored responses, all of them on for each answer: what
 * was filtered is nowhere, nothing stays held, and each generation has one row that ends as it did.
 */

const FILTERED = 'Write to [REDACTED:email] today.'
/** It ends in the middle. */
const HALF =
  '{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"Write to ann@example.org'
const PARTS = ['Write to ', 'ann@exam', 'ple.org', ' today.']

let gateway: Gateway
let upstream: FakeUpstream
let key = ''
let turn = 0

beforeAll(async () => {
  upstream = startUpstream()
  gateway = await startGateway({ providers: [labOf(upstream, ['tiny'])] })
  const made = await gateway.makeKey({
    limit: 1,
    rate_limits: { requests_per_minute: 1000, tokens_per_minute: 1e6, concurrent_requests: 2 },
  })
  key = made.key
  const { id } = await dataOf(
    await gateway.manage('POST', '/guardrails', {
      name: 'Careful',
      content_filter_builtins: [{ slug: 'email', action: 'redact', apply_to: 'output' }],
    }),
  )
  await gateway.manage('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [made.hash] })
  const workspace = await dataOf(await gateway.manage('GET', '/workspaces/default'))
  await gateway.manage('PATCH', `/workspaces/${workspace['id']}`, {
    is_observability_io_logging_enabled: true,
    response_cache_enabled: true,
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const dataOf = async (response: Response) => objectOf(objectOf(await response.json())['data'])

const BODIES = {
  '/chat/completions': (content: string) => ({ messages: [{ role: 'user', content }] }),
  '/messages': (content: string) => ({ max_tokens: 100, messages: [{ role: 'user', content }] }),
  '/responses': (content: string) => ({ input: content, store: true }),
} as const
type Path = keyof typeof BODIES

const ROWS = (Object.keys(BODIES) as Path[]).flatMap((path) =>
  [false, true].flatMap((stream) => [true, false].map((isWhole) => ({ path, stream, isWhole }))),
)

test.each(ROWS)('$path, stream: $stream, whole: $isWhole', async ({ path, stream, isWhole }) => {
  turn += 1
  const before = gateway.generations().length
  const parts = isWhole ? frames(PARTS) : frames(PARTS).slice(0, 4)
  upstream.on('tiny', stream ? () => sse(parts) : isWhole ? unary(PARTS.join('')) : () => new Response(HALF))
  const replies: Response[] = []
  const seen: string[] = []
  for (let i = 0; i < 2; i++) {
    const body = { model: 'tiny', stream, ...BODIES[path](`Question ${turn}`) }
    const response = await gateway.call(path, body, { authorization: `Bearer ${key}` })
    replies.push(response)
    seen.push(await response.text())
  }
  const ways = replies.map(({ headers }) => headers.get('x-openrouter-cache-status'))
  if (stream || isWhole) expect(ways).toEqual(isWhole ? ['MISS', 'HIT'] : ['MISS', 'MISS'])

  expect(gateway.deps.run.running.count()).toBe(0)
  expect(gateway.deps.run.rates.held()).toBe(0)
  expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  const rows = gateway.generations().slice(before)
  expect(rows.map((row) => row['finish_reason'])).toEqual(isWhole ? ['stop', 'stop'] : ['error', 'error'])
  for (const { id } of rows) {
    const logged = await gateway.manage('GET', `/generation/content?id=${id}`)
    expect(logged.status).toBe(200)
    const { output, error } = await dataOf(logged)
    if (isWhole) expect([output, error]).toMatchObject([{ completion: FILTERED }, null])
    else expect(error).toMatchObject({ message: expect.any(String) })
    seen.push(JSON.stringify(output))
    if (path !== '/responses') continue
    const stored = await gateway.call(`/responses/${String(id).replace('gen-', 'resp_')}`)
    expect(stored.status).toBe(stream || isWhole ? 200 : 404)
    seen.push(await stored.text())
  }
  for (const text of [...seen, JSON.stringify(rows)]) expect(text).not.toContain('ann@')
})
