/** What a loop costs, however it ends. */
import { describe, expect, test } from 'bun:test'
import { gatewayOfFile, labOf } from '../../file-setup.ts'
import { type Answer, paced, sse, startUpstream } from '../../upstream.ts'
import { calls, messageOf, ask as request, says } from './setup.ts'

const CENT = 10_000_000

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    providers: [
      // A cent for each answer: all of it is the request fee.
      labOf(upstream, [{ id: 'cent', pricing: { prompt: '0', completion: '0', request: '0.01' } }]),
    ],
  },
  upstream,
)
const ask = (more: Record<string, unknown> = {}) => request({ model: 'cent', ...more })
const withKey = (key: string) => ({ authorization: `Bearer ${key}` })
const rowsOf = (hash: string) => gateway.generations().filter((row) => row['key_hash'] === hash)
const spentBy = (hash: string) => rowsOf(hash).reduce((sum, row) => sum + Number(row['cost_nano_usd']), 0)

const called = (body: Record<string, unknown>): number =>
  Array.isArray(body['messages']) ? body['messages'].filter(({ role }) => role === 'tool').length : 0

/** Two steps that call a tool, and the answer. */
const threeSteps: Answer = (seen, asked) => {
  const step = called(seen.body)
  if (step === 2) return says('done')(seen, asked)
  return calls([{ name: 'calculator', args: { expression: `${step}` }, id: `c${step}` }])(seen, asked)
}

describe.each([false, true])(
  '500 parallel loops of three steps on a ten-cent key, streamed: %p',
  (stream) => {
    test('spend ten cents and nothing more', async () => {
      upstream.on('cent', threeSteps)
      const { key, hash } = await gateway.makeKey({ limit: 0.1, limit_reset: 'daily' })
      const replies = await Promise.all(
        Array.from({ length: 500 }, async () => {
          const response = await gateway.call('/chat/completions', ask({ stream }), withKey(key))
          return { status: response.status, text: await response.text() }
        }),
      )
      const isDone = ({ status, text }: (typeof replies)[number]) => status === 200 && text.includes('done')
      expect(spentBy(hash)).toBe(10 * CENT)
      expect(rowsOf(hash).filter((row) => Number(row['cost_nano_usd']) > 0)).toHaveLength(10)
      expect(replies.filter(isDone).length).toBeLessThanOrEqual(3)
      expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
      const others = replies.filter((reply) => !isDone(reply))
      // A stream that runs out of money ends with an error event.
      expect(others.every(({ status, text }) => status === 402 || text.includes('"code":402'))).toBe(true)
    }, 60_000)
  },
)

test('a loop that runs out of money in its second step keeps the first one, and says 402', async () => {
  upstream.on('cent', threeSteps)
  const { key, hash } = await gateway.makeKey({ limit: 0.01, limit_reset: 'daily' })
  const response = await gateway.call('/chat/completions', ask(), withKey(key))
  expect(response.status).toBe(402)
  expect(await messageOf(response)).toContain('limit')
  expect(spentBy(hash)).toBe(CENT)
  expect(rowsOf(hash)).toMatchObject([{ parent_id: null, finish_reason: 'tool_calls' }])
  expect(response.headers.get('x-generation-id')).toBe(String(rowsOf(hash)[0]?.['id']))
})

test('a provider that fails in the second step: the first step is charged, the error is the caller’s', async () => {
  const { key, hash } = await gateway.makeKey({})
  const failing: Answer = (seen, asked) =>
    called(seen.body) === 0
      ? threeSteps(seen, asked)
      : Response.json({ error: { message: 'too odd' } }, { status: 400 })
  upstream.on('cent', failing)
  const complete = await gateway.call('/chat/completions', ask(), withKey(key))
  expect(complete.status).toBe(400)
  expect(await messageOf(complete)).toContain('too odd')
  const streamed = await gateway.call('/chat/completions', ask({ stream: true }), withKey(key))
  expect(streamed.status).toBe(200)
  expect(await streamed.text()).toContain('too odd')
  expect(spentBy(hash)).toBe(2 * CENT)
  expect(rowsOf(hash)).toHaveLength(4)
})

test('a stream that breaks off in the second step is charged as delivered', async () => {
  const { key, hash } = await gateway.makeKey({})
  upstream.on('cent', (seen, asked) =>
    called(seen.body) === 0
      ? threeSteps(seen, asked)
      : sse(['data: {"choices":[{"index":0,"delta":{"content":"half"}}]}\n\n']),
  )
  const response = await gateway.call('/chat/completions', ask({ stream: true }), withKey(key))
  const text = await response.text()
  expect(text).toContain('half')
  expect(text).toContain('"finish_reason":"error"')
  expect(rowsOf(hash).map(({ finish_reason }) => finish_reason)).toEqual(['tool_calls', 'error'])
  expect(spentBy(hash)).toBe(2 * CENT)
})

test('a client that leaves in the second step ends the provider’s reply and settles both steps', async () => {
  const { key, hash } = await gateway.makeKey({})
  const left = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  upstream.on('cent', (seen, asked) => {
    if (called(seen.body) === 0) return threeSteps(seen, asked)
    begun.resolve()
    const head = 'data: {"choices":[{"index":0,"delta":{"content":"half"}}]}\n\n'
    return paced([head], 'hang', undefined, () => left.resolve())
  })
  const client = new AbortController()
  const response = await gateway.abortable(
    '/chat/completions',
    ask({ stream: true }),
    withKey(key),
    client.signal,
  )
  const reader = response.body?.getReader()
  await reader?.read()
  await begun.promise
  client.abort()
  await reader?.cancel()
  await left.promise
  while (rowsOf(hash).length < 2) await new Promise((resolve) => setImmediate(resolve))
  expect(rowsOf(hash)).toMatchObject([
    { finish_reason: 'tool_calls', cancelled: 0 },
    { finish_reason: 'error', cancelled: 1 },
  ])
  expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
})
