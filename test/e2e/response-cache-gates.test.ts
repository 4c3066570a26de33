import { beforeEach, describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { gatewayOfFile, labOf } from '../file-setup.ts'
import { frames, startUpstream, streamed, unary } from '../upstream.ts'

/** What else applies to a cache hit: rates, filters on answers, the log of contents. */

let now = Date.UTC(2026, 6, 15, 12)
let turn = 0

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    now: () => now,
    providers: [labOf(upstream, ['tiny'])],
  },
  upstream,
)

beforeEach(() => {
  turn += 1
  now += 3_600_000
  upstream.seen.length = 0
  upstream.on('tiny', unary('Write to ann@example.org.'))
})

const dataOf = async (response: Response) => objectOf(objectOf(await response.json())['data'])

const guarded = async (fields: object): Promise<string> => (await gateway.makeGuardedKey(fields)).key

async function ask(key: string, stream = false) {
  const body = { model: 'tiny', messages: [{ role: 'user', content: `Question ${turn}` }], stream }
  const headers = { 'x-openrouter-cache': 'true', authorization: `Bearer ${key}` }
  const response = await gateway.call('/chat/completions', body, headers)
  const text = await response.text()
  return {
    status: response.status,
    cache: response.headers.get('x-openrouter-cache-status'),
    text: stream ? text : JSON.parse(text).choices?.[0].message.content,
    id: response.headers.get('x-generation-id') ?? '',
  }
}

describe('a cache hit', () => {
  test('is a request among those of the minute', async () => {
    const key = await guarded({ rate_limits: { requests_per_minute: 3 } })
    const seen = []
    for (let i = 0; i < 4; i++) seen.push(await ask(key))
    expect(seen.map(({ status, cache }) => [status, cache])).toEqual([
      [200, 'MISS'],
      [200, 'HIT'],
      [200, 'HIT'],
      [429, null],
    ])
    expect(gateway.deps.run.rates.held()).toBe(0)
  })

  test('uses no tokens, and is given where none are left', async () => {
    // The first answer leaves a debt: 10 tokens in and 5 out, of 12.
    const key = await guarded({ rate_limits: { tokens_per_minute: 12 } })
    expect(await ask(key)).toMatchObject({ status: 200, cache: 'MISS' })
    expect(await ask(key)).toMatchObject({ status: 200, cache: 'HIT' })
    turn += 1000
    expect(await ask(key)).toMatchObject({ status: 429, cache: null })
  })

  test('waits its turn among concurrent requests, and releases its place', async () => {
    const key = await guarded({ rate_limits: { concurrent_requests: 1 } })
    await ask(key)
    for (let i = 0; i < 3; i++) expect(await ask(key)).toMatchObject({ status: 200, cache: 'HIT' })
    expect(gateway.deps.run.rates.held()).toBe(0)
  })

  test('is shared by keys whose rates differ, for rates change no answer', async () => {
    const [first, second] = [
      await guarded({ rate_limits: { requests_per_minute: 30 } }),
      await guarded({ rate_limits: { requests_per_minute: 40 } }),
    ]
    await ask(first)
    expect(await ask(second)).toMatchObject({ cache: 'HIT' })
  })

  test('is what the filters on answers left, and only for keys with the same ones', async () => {
    const email = (action: string) => ({
      content_filter_builtins: [{ slug: 'email', action, apply_to: 'output' }],
    })
    const redacting = await guarded(email('redact'))
    const again = await guarded(email('redact'))
    const blocking = await guarded(email('block'))
    const plain = (await gateway.makeKey({})).key
    expect(await ask(plain)).toMatchObject({ cache: 'MISS', text: 'Write to ann@example.org.' })
    const redacted = await ask(redacting)
    expect(redacted).toMatchObject({ cache: 'MISS' })
    expect(redacted.text).not.toContain('ann@')
    expect(await ask(again)).toMatchObject({ cache: 'HIT', text: redacted.text })
    // What was blocked is not kept.
    for (let i = 0; i < 2; i++) expect(await ask(blocking)).toMatchObject({ cache: 'MISS' })
    expect(upstream.seen.length).toBe(4)
  })

  test('ends as it ended for a key whose answers are filtered', async () => {
    const key = await guarded({
      content_filter_builtins: [{ slug: 'email', action: 'redact', apply_to: 'output' }],
    })
    for (const stream of [false, true]) {
      upstream.on(
        'tiny',
        stream ? streamed(frames(['Write to ', 'ann@example.org.'])) : unary('To a@b.example.'),
      )
      turn += 1000
      const [miss, hit] = [await ask(key, stream), await ask(key, stream)]
      expect([miss.cache, hit.cache]).toEqual(['MISS', 'HIT'])
      const rows = []
      for (const { id } of [miss, hit])
        rows.push(await dataOf(await gateway.manage('GET', `/generation?id=${id}`)))
      expect(rows.map((row) => [row['finish_reason'], row['native_finish_reason']])).toEqual([
        ['stop', 'stop'],
        ['stop', 'stop'],
      ])
    }
  })

  test('is logged as any other where its workspace logs', async () => {
    const { key } = await gateway.makeKey({})
    const workspace = await dataOf(await gateway.manage('GET', '/workspaces/default'))
    const change = (isOn: boolean) =>
      gateway.manage('PATCH', `/workspaces/${workspace['id']}`, { is_observability_io_logging_enabled: isOn })
    await change(true)
    const asked = [await ask(key), await ask(key)]
    await change(false)
    expect(asked.map(({ cache }) => cache)).toEqual(['MISS', 'HIT'])
    for (const { id } of asked)
      expect(await dataOf(await gateway.manage('GET', `/generation/content?id=${id}`))).toMatchObject({
        input: { messages: [{ role: 'user', content: `Question ${turn}` }] },
        output: { completion: 'Write to ann@example.org.' },
        error: null,
      })
  })
})
