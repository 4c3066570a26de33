import { beforeEach, describe, expect, test } from 'bun:test'
import { gatewayOfFile } from '../file-setup.ts'
import { API_KEY } from '../gateway.ts'
import { startUpstream, unary } from '../upstream.ts'

/** A client disconnect before any provider has the request: nothing was used, so nothing is charged. */

let caller = new AbortController()

const upstream = startUpstream()
const models = [{ id: 'tiny', pricing: { prompt: '0.001', completion: '0.001', request: '0.01' } }]
const gateway = await gatewayOfFile(
  {
    listens: true,
    providers: [{ slug: 'lab', base_url: upstream.baseUrl, models }],
  },
  upstream,
)
// The caller leaves in the pause before the second try.
gateway.deps.run.wait = (_, signal) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
    caller.abort()
  })
beforeEach(() => {
  caller = new AbortController()
  upstream.seen.length = 0
})

const ask = (more: object) =>
  fetch(`${gateway.url}/api/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'tiny', messages: [{ role: 'user', content: 'Hello' }], ...more }),
    signal: caller.signal,
  })
async function lastRow(): Promise<Record<string, unknown>> {
  while (gateway.deps.run.running.count() > 0) await new Promise(setImmediate)
  expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  return gateway.generations().at(-1) ?? {}
}

describe.each([{ stream: false }, { stream: true }])('a client disconnect, stream: $stream', (more) => {
  test('between two tries is charged nothing', async () => {
    upstream.on('tiny', () => new Response('broken', { status: 500 }))
    await ask(more).catch(() => undefined)
    expect(upstream.seen.length).toBe(1)
    expect(await lastRow()).toMatchObject({
      cancelled: 1,
      finish_reason: 'error',
      cost_nano_usd: 0,
      tokens_prompt: 0,
      usage_source: 'none',
    })
  })

  test('while a provider has the request is charged its prompt', async () => {
    let reached = () => {}
    const asked = new Promise<void>((resolve) => {
      reached = resolve
    })
    let answer = () => {}
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    upstream.on('tiny', async (seen, request) => {
      reached()
      await answered
      return unary('late')(seen, request)
    })
    const asking = ask(more)
    await asked
    caller.abort()
    await asking.catch(() => undefined)
    const row = await lastRow()
    answer()
    expect(row).toMatchObject({ cancelled: 1, finish_reason: 'error', usage_source: 'estimated' })
    expect(Number(row['cost_nano_usd'])).toBeGreaterThan(0)
  })
})
