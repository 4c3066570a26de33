import { expect, test } from 'bun:test'
import { gatewayOfFile } from '../file-setup.ts'
import { frames, sse, startUpstream, unary } from '../upstream.ts'

/**
 * Providers that report more tokens than a request can use. The answer costs its reservation, and the sums of the ledger stay
 * exact: the gateway of this file is verified when it stops.
 */

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    providers: [
      {
        slug: 'lab',
        dialect: 'chat',
        base_url: upstream.baseUrl,
        models: [{ id: 'liar', pricing: { prompt: '0.000001001', completion: '0.000002' } }],
      },
    ],
  },
  upstream,
)

const MOST = 100_000_000
const usageOf = (prompt: number, completion: number) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
})
const ask = async (stream: boolean): Promise<void> => {
  const reply = await gateway.call('/chat/completions', {
    model: 'liar',
    stream,
    max_tokens: 10,
    messages: [{ role: 'user', content: 'Hello' }],
  })
  expect(reply.status).toBe(200)
  await reply.text()
}
/** More than 10 tokens of an answer and a short prompt cost. */
const MOST_NANO_USD = 100_000

test.each([
  [999_999_999_999, 1],
  [1, 999_999_999_999],
  [1e308, 1e308],
])('%p tokens of a prompt and %p of an answer', async (prompt, completion) => {
  for (const stream of [false, true]) {
    upstream.on(
      'liar',
      stream
        ? () => sse(frames(['Hi'], usageOf(prompt, completion)))
        : unary('Hi', { usage: usageOf(prompt, completion) }),
    )
    await ask(stream)
    const row = gateway.generations().at(-1)
    expect(row?.['cost_nano_usd']).toBeGreaterThan(0)
    expect(row?.['cost_nano_usd']).toBeLessThan(MOST_NANO_USD)
    expect(row).toMatchObject({ tokens_prompt: Math.min(prompt, MOST), usage_source: 'provider' })
  }
})

test('as many as a long context has are charged', async () => {
  upstream.on('liar', unary('Hi', { usage: usageOf(10_000_000, 1) }))
  await ask(false)
  expect(gateway.generations().at(-1)).toMatchObject({ cost_nano_usd: 10_000_000 * 1001 + 2000 })
})

test('a thousand such answers do not overflow the sums', async () => {
  upstream.on('liar', unary('Hi', { usage: usageOf(1e308, 1e308) }))
  for (let round = 0; round < 110; round++) await Promise.all(Array.from({ length: 10 }, () => ask(false)))
}, 60_000)
