import { describe, expect, test } from 'bun:test'
import {
  type Answer,
  CHAT,
  MESSAGES,
  messageOf,
  PNG,
  type Route,
  startForRateLimits,
} from './rate-limits-setup.ts'

/** Requests and tokens per minute, on every route of inference, for everything that can have a limit. */

const { clock, provider, gateway, gates, ask, statuses, idle } = await startForRateLimits()

const routes: Route[] = [
  CHAT,
  { ...CHAT, name: 'chat, streamed', body: { messages: MESSAGES, stream: true } },
  { path: '/responses', body: { input: 'Hi there' } },
  { name: 'responses, streamed', path: '/responses', body: { input: 'Hi there', stream: true } },
  { name: 'responses, in the background', path: '/responses', body: { input: 'Hi there', background: true } },
  { path: '/messages', body: { messages: MESSAGES, max_tokens: 9 }, isMessages: true },
  {
    name: 'messages, streamed',
    path: '/messages',
    body: { messages: MESSAGES, max_tokens: 9, stream: true },
    isMessages: true,
  },
  { path: '/messages/count_tokens', body: { messages: MESSAGES }, isMessages: true },
  { path: '/embeddings', body: { input: 'a' } },
  { path: '/rerank', body: { query: 'q', documents: ['a'] } },
  { path: '/images', body: { prompt: 'a' } },
  { path: '/images/generations', body: { prompt: 'a' } },
  {
    path: '/images/edits',
    body: { prompt: 'a', images: [{ image_url: `data:image/png;base64,${PNG}` }] },
  },
  { path: '/audio/speech', body: { input: 'abc' } },
  { path: '/audio/transcriptions', body: { input_audio: { data: 'UklGRg==', format: 'wav' } } },
]

describe.each(routes.map((route) => [route.name ?? route.path, route] as const))('%s', (_, route) => {
  test.each(gates)(
    'is rejected by the limit of %s before anything else, and accepted again in time',
    async (_, make) => {
      const { key, says } = await make({ requests_per_minute: 2 })
      for (let time = 0; time < 2; time++) {
        const taken = await ask(key, route)
        expect([taken.status, taken.headers.get('ratelimit')]).toEqual([200, null])
      }
      await idle()
      const before = { calls: provider.calls, rows: gateway.generations().length }
      const refused = await ask(key, route)
      expect([refused.status, messageOf(refused)]).toEqual([429, expect.stringMatching(says)])
      expect(messageOf(refused)).toEndWith(
        'a minute; used up: 2, still running: 0. The next one is taken in 30 s; a higher limit holds at once',
      )
      expectForm(route, refused)
      expect(Object.fromEntries(refused.headers)).toMatchObject({
        'retry-after': '30',
        'ratelimit-policy': '"requests";q=2;w=60',
        ratelimit: '"requests";r=0;t=30',
        'x-ratelimit-limit': '2',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(clock.now + 30_000),
      })
      expect({ calls: provider.calls, rows: gateway.generations().length }).toEqual(before)
      clock.now += 29_999
      expect((await ask(key, route)).status).toBe(429)
      clock.now += 1
      expect((await ask(key, route)).status).toBe(200)
      expect((await ask(key, route)).status).toBe(429)
    },
  )
})

function expectForm({ isMessages }: Route, { text }: Answer): void {
  const body: unknown = JSON.parse(text)
  if (isMessages) {
    expect(body).toMatchObject({
      type: 'error',
      error: { type: 'rate_limit_error', error_type: 'rate_limit_exceeded' },
      request_id: expect.stringMatching(/^req-/),
    })
    return
  }
  expect(body).toMatchObject({
    error: { code: 429, message: expect.any(String), metadata: { error_type: 'rate_limit_exceeded' } },
  })
}

describe('tokens', () => {
  /** "Hi there" is 10 tokens by our estimate, and 15 with its answer by the provider's count. */
  test.each(gates)(
    'of %s: used tokens count, and tokens beyond the limit must be waited for',
    async (_, make) => {
      const { key, says } = await make({ tokens_per_minute: 30 })
      expect(await statuses(key, 2)).toEqual([200, 200])
      const refused = await ask(key)
      expect([refused.status, messageOf(refused)]).toEqual([429, expect.stringMatching(says)])
      expect(messageOf(refused)).toEndWith(
        'a minute; used up: 30, of that held by running requests: 0, needed: 10. It is taken in 20 s; a higher limit holds at once',
      )
      expect(refused.headers.get('ratelimit')).toBe('"tokens";r=0;t=20')
      clock.now += 19_999
      expect((await ask(key)).status).toBe(429)
      clock.now += 1
      // 10 of 30 are left, 15 are used: 5 of debt.
      expect((await ask(key)).status).toBe(200)
      expect((await ask(key)).headers.get('retry-after')).toBe('30')
    },
  )

  test('of a failed answer are all returned, and it counts as a request', async () => {
    const rate_limits = { tokens_per_minute: 11, requests_per_minute: 3 }
    const { key } = await gateway.makeKey({ rate_limits })
    expect((await ask(key, CHAT, { model: 'breaks' })).status).toBe(502)
    expect((await ask(key)).status).toBe(200)
    const refused = await ask(key)
    expect(refused.headers.get('ratelimit-policy')).toBe('"tokens";q=11;w=60')
    clock.now += 3_600_000
    expect((await ask(key, CHAT, { model: 'breaks' })).status).toBeGreaterThanOrEqual(500)
  })

  test('reserved for an answer are at most a tenth of the limit', async () => {
    const { key } = await gateway.makeKey({ rate_limits: { tokens_per_minute: 100 } })
    // 10 for the prompt and 10 for the answer: five at once.
    const replies = await Promise.all(Array.from({ length: 8 }, () => ask(key, CHAT, { max_tokens: 4_000 })))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 200, 429, 429, 429])
    expect(messageOf(replies.find(({ status }) => status === 429) ?? Object())).toContain(
      'used up: 100, of that held by running requests: 100, needed: 20',
    )
    // 75 were used in truth.
    expect((await ask(key, CHAT, { max_tokens: 10 })).status).toBe(200)
  })

  test('of a prompt beyond the limit are rejected without a time to wait', async () => {
    const { key } = await gateway.makeKey({ rate_limits: { tokens_per_minute: 9 } })
    const refused = await ask(key)
    expect([refused.status, messageOf(refused)]).toEqual([
      429,
      expect.stringMatching(
        /may use 9 tokens a minute, and this prompt alone is about 10: waiting does not help/,
      ),
    ])
    expect([refused.headers.get('retry-after'), refused.headers.get('ratelimit')]).toEqual([
      null,
      '"tokens";r=9',
    ])
  })

  test('are not needed for a count', async () => {
    const { key } = await gateway.makeKey({ rate_limits: { tokens_per_minute: 1 } })
    const count = { path: '/messages/count_tokens', body: { messages: MESSAGES } }
    expect((await ask(key, count)).status).toBe(200)
  })
})
