import { beforeEach, describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { chunk, frames, paced, sse, startUpstream, streamed, unary } from '../upstream.ts'

/** How many run at once: whatever the ending, a request is counted out exactly once. */

const upstream = startUpstream()
const models = ['tiny', 'held', 'broken', 'refusing', 'cut', 'sound'].map((id) => ({
  id,
  pricing: { prompt: '0.000001', completion: '0.000002' },
}))
const gateway = await gatewayOfFile(
  {
    listens: true,
    providers: [{ slug: 'lab', dialect: 'chat', base_url: upstream.baseUrl, models }],
  },
  upstream,
)
gateway.deps.run.wait = async () => undefined
beforeEach(() => {
  upstream.on('tiny', unary('x'))
  upstream.on('broken', () => new Response('no', { status: 500 }))
  upstream.on('refusing', () => Response.json({ error: { message: 'too long' } }, { status: 400 }))
  upstream.on('cut', () => sse([chunk({ content: 'One' })]))
  upstream.on('sound', () => new Response('sound', { headers: { 'content-type': 'audio/pcm' } }))
})

const run = () => gateway.deps.run
const nothingHeld = () => expect([run().rates.held(), gateway.deps.ledger.heldNanoUsd()]).toEqual([0, 0])
/** Until nothing runs any more: endings without a caller are not awaited by anybody else. */
async function idle(): Promise<void> {
  while (run().running.count() > 0) await Bun.sleep(1)
  nothingHeld()
}
const oneAtOnce = async (): Promise<string> =>
  (await gateway.makeKey({ rate_limits: { concurrent_requests: 1 } })).key
const post = (key: string, path: string, body: object, signal?: AbortSignal): Promise<Response> =>
  fetch(`${gateway.url}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  })
const MESSAGES = [{ role: 'user', content: 'Hello' }]
const chat = (key: string, more: object, signal?: AbortSignal) =>
  post(key, '/chat/completions', { model: 'tiny', messages: MESSAGES, ...more }, signal)

/** The model `held` answers its first word and then waits; `reached` is when it has been asked. */
function hold(isSilent = false): { reached: Promise<void>; open(): void } {
  const reached = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  upstream.on('held', async ({ body }) => {
    if (body['stream'] !== true || isSilent) {
      reached.resolve()
      await opened.promise
      return body['stream'] === true
        ? streamed(['late'])({ path: '', headers: new Headers(), body }, new Request('http://x/'))
        : Response.json({})
    }
    let sent = 0
    return paced(frames(['One', ' two']), 'close', async () => {
      sent += 1
      if (sent !== 3) return
      reached.resolve()
      await opened.promise
    })
  })
  return { reached: reached.promise, open: opened.resolve }
}

describe('one at once', () => {
  test('a second one is refused while the first runs, and taken when it has ended', async () => {
    const gate = hold()
    const key = await oneAtOnce()
    const first = await chat(key, { model: 'held', stream: true })
    await gate.reached
    for (const model of ['tiny', 'held']) {
      const refused = await chat(key, { model })
      const { error } = objectOf(await refused.json())
      expect([refused.status, objectOf(error)['message']]).toEqual([
        429,
        expect.stringMatching(
          /^The key sk-sl-v1-\S+ may have 1 request running at once, and 1 are\. The next one is taken when one of them has ended/,
        ),
      ])
      expect(Object.fromEntries(refused.headers)).toMatchObject({
        'retry-after': '1',
        'ratelimit-policy': '"concurrent-requests";q=1',
        ratelimit: '"concurrent-requests";r=0;t=1',
        'x-ratelimit-limit': '1',
        'x-ratelimit-remaining': '0',
      })
    }
    expect(upstream.seen.at(-1)?.body['model']).toBe('held')
    gate.open()
    await first.text()
    expect((await chat(key, {})).status).toBe(200)
    await idle()
  })

  test('keys of one workspace share its limit, and each has that of the default guardrail', async () => {
    const fields = { name: 'Narrow', slug: 'narrow', rate_limits: { concurrent_requests: 2 } }
    const { data } = objectOf(await (await gateway.manage('POST', '/workspaces', fields)).json())
    const { id, default_guardrail_id } = objectOf(data)
    await gateway.manage('PATCH', `/guardrails/${default_guardrail_id}`, {
      rate_limits: { concurrent_requests: 1 },
    })
    const keys: string[] = []
    for (let i = 0; i < 3; i++) keys.push((await gateway.makeKey({ workspace_id: id })).key)
    const [a = '', b = '', c = ''] = keys
    const gate = hold()
    const running = [await chat(a, { model: 'held', stream: true })]
    const refusalOf = async (key: string) =>
      objectOf(objectOf(await (await chat(key, {})).json())['error'])['message']
    expect(await refusalOf(a)).toStartWith('By the guardrail "Default" the key')
    running.push(await chat(b, { model: 'held', stream: true }))
    expect(await refusalOf(c)).toStartWith(
      'The workspace "Narrow" may have 2 requests running at once, and 2 are.',
    )
    gate.open()
    for (const response of running) await response.text()
    expect((await chat(c, {})).status).toBe(200)
    await idle()
  })
})

interface Ending {
  name: string
  /** Sends one request and brings it to its end. */
  end(key: string): Promise<unknown>
}
const text = async (answering: Promise<Response>): Promise<string> => (await answering).text()
async function leftWhile(key: string, path: string, body: object, isSilent: boolean): Promise<void> {
  const gate = hold(isSilent)
  const abort = new AbortController()
  const answering = post(key, path, { model: 'held', ...body }, abort.signal)
  if (isSilent) {
    await gate.reached
    abort.abort()
    await answering.catch(() => undefined)
  } else {
    const reader = (await answering).body?.getReader()
    await reader?.read()
    await gate.reached
    abort.abort()
  }
  await idle()
  gate.open()
}
const endings: Ending[] = [
  { name: 'a whole answer', end: (key) => text(chat(key, {})) },
  {
    name: 'a whole stream',
    end: (key) => {
      upstream.on('tiny', streamed(['x']))
      return text(chat(key, { stream: true }))
    },
  },
  { name: 'a failure', end: (key) => text(chat(key, { model: 'broken' })) },
  { name: 'a failure of a stream', end: (key) => text(chat(key, { model: 'broken', stream: true })) },
  { name: 'a refusal by the provider', end: (key) => text(chat(key, { model: 'refusing' })) },
  { name: 'a stream that is cut', end: (key) => text(chat(key, { model: 'cut', stream: true })) },
  { name: 'an unreadable reply', end: (key) => text(chat(key, { model: 'sound' })) },
  { name: 'no such model', end: (key) => text(chat(key, { model: 'nowhere' })) },
  {
    name: 'a client disconnect before the answer',
    end: (key) => leftWhile(key, '/chat/completions', { messages: MESSAGES }, true),
  },
  {
    name: 'a client disconnect before the stream',
    end: (key) => leftWhile(key, '/chat/completions', { messages: MESSAGES, stream: true }, true),
  },
  {
    name: 'a client disconnect in a stream',
    end: (key) => leftWhile(key, '/chat/completions', { messages: MESSAGES, stream: true }, false),
  },
  {
    name: 'a client disconnect in a stream of messages',
    end: (key) => leftWhile(key, '/messages', { messages: MESSAGES, max_tokens: 9, stream: true }, false),
  },
  {
    name: 'a client disconnect in a stream of responses',
    end: (key) => leftWhile(key, '/responses', { input: 'Hello', stream: true, store: true }, false),
  },
  { name: 'speech', end: (key) => text(post(key, '/audio/speech', { model: 'sound', input: 'a' })) },
  {
    name: 'speech that fails',
    end: (key) => text(post(key, '/audio/speech', { model: 'broken', input: 'a' })),
  },
  {
    name: 'an embedding that fails',
    end: (key) => text(post(key, '/embeddings', { model: 'broken', input: 'a' })),
  },
  {
    name: 'an image stream that fails',
    end: (key) => text(post(key, '/images', { model: 'broken', prompt: 'a', stream: true })),
  },
  {
    name: 'a count',
    end: (key) => text(post(key, '/messages/count_tokens', { model: 'tiny', messages: MESSAGES })),
  },
  {
    name: 'a run in the background',
    async end(key) {
      const gate = hold()
      const body = { model: 'held', input: 'Hello', background: true }
      expect((await post(key, '/responses', body)).status).toBe(200)
      await gate.reached
      expect((await chat(key, {})).status).toBe(429)
      expect((await post(key, '/responses', body)).status).toBe(429)
      gate.open()
    },
  },
  {
    name: 'a run in the background that is cancelled',
    async end(key) {
      const gate = hold()
      const begun = await post(key, '/responses', { model: 'held', input: 'Hello', background: true })
      const { id } = objectOf(await begun.json())
      await gate.reached
      expect((await post(key, `/responses/${id}/cancel`, {})).status).toBe(200)
      gate.open()
    },
  },
]

test.each(endings)('after $name there is room for one, and for one only', async ({ end }) => {
  const key = await oneAtOnce()
  // Twice: what is counted out twice would leave room for two.
  for (let time = 0; time < 2; time++) {
    await end(key)
    await idle()
  }
  const gate = hold()
  const running = await chat(key, { model: 'held', stream: true })
  await gate.reached
  expect([running.status, (await chat(key, {})).status]).toEqual([200, 429])
  gate.open()
  await running.text()
  await idle()
})

test('500 at once at a limit of 7: never more than 7 run, and all of them leave', async () => {
  const { key } = await gateway.makeKey({ rate_limits: { concurrent_requests: 7 } })
  let most = 0
  let inside = 0
  upstream.on('tiny', async (seen, request) => {
    inside += 1
    most = Math.max(most, inside)
    await new Promise((resolve) => setImmediate(resolve))
    inside -= 1
    return unary('x')(seen, request)
  })
  const answers = await Promise.all(
    Array.from({ length: 500 }, async () => {
      const response = await chat(key, {})
      await response.text()
      return response.status
    }),
  )
  expect(answers.filter((status) => status !== 200 && status !== 429)).toEqual([])
  expect(answers.filter((status) => status === 200).length).toBeGreaterThanOrEqual(7)
  expect(most).toBeLessThanOrEqual(7)
  await idle()
})

test('an absurd count of tokens from a provider does not block callers for years', async () => {
  const { key } = await gateway.makeKey({ rate_limits: { tokens_per_minute: 100_000 } })
  const usage = { prompt_tokens: 10, completion_tokens: 1e15, total_tokens: 1e15 }
  upstream.on('tiny', unary('x', { usage }))
  expect((await chat(key, { max_tokens: 5 })).status).toBe(200)
  const refused = await chat(key, { max_tokens: 5 })
  expect(refused.status).toBe(429)
  // Ten million tokens, at a hundred thousand a minute.
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(100 * 60)
  await idle()
})
