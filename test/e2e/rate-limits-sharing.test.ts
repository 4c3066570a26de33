import { describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { type Answer, CHAT, messageOf, startForRateLimits } from './rate-limits-setup.ts'

/** Rate limits that keys share, limits of models, concurrency and changes. */

const { clock, gateway, dataOf, newWorkspace, ask, statuses, idle } = await startForRateLimits()

describe('a shared limit', () => {
  test('is one for all keys of a workspace, and one for each key of its default guardrail', async () => {
    const { id, default_guardrail_id } = await newWorkspace({ rate_limits: { requests_per_minute: 3 } })
    await dataOf('PATCH', `/guardrails/${default_guardrail_id}`, { rate_limits: { requests_per_minute: 2 } })
    const [a, b] = [await gateway.makeKey({ workspace_id: id }), await gateway.makeKey({ workspace_id: id })]
    expect(await statuses(a.key, 3)).toEqual([200, 200, 429])
    const second = [await ask(b.key), await ask(b.key)]
    expect(second.map(({ status }) => status)).toEqual([200, 429])
    expect(messageOf(second[1] ?? Object())).toStartWith('The workspace "')
  })

  test('is one for the keys of a member, apart from other members', async () => {
    const { id } = await dataOf('POST', '/guardrails', { name: 'M', rate_limits: { requests_per_minute: 2 } })
    const member_user_ids = ['user_bob', 'user_cyd']
    await dataOf('POST', `/guardrails/${id}/assignments/members`, { member_user_ids })
    const of = (creator_user_id: string) => gateway.makeKey({ creator_user_id })
    const [a, b, other] = [await of('user_bob'), await of('user_bob'), await of('user_cyd')]
    expect([...(await statuses(a.key, 1)), ...(await statuses(b.key, 2))]).toEqual([200, 200, 429])
    expect(await statuses(other.key, 3)).toEqual([200, 200, 429])
  })

  test('of a guardrail counts once if it applies to a key in two ways', async () => {
    const { id, default_guardrail_id } = await newWorkspace()
    await dataOf('PATCH', `/guardrails/${default_guardrail_id}`, { rate_limits: { requests_per_minute: 2 } })
    const { key, hash } = await gateway.makeKey({ workspace_id: id })
    await dataOf('POST', `/guardrails/${default_guardrail_id}/assignments/keys`, { key_hashes: [hash] })
    expect(await statuses(key, 3)).toEqual([200, 200, 429])
  })

  test('is the one with the longest wait if several are exhausted', async () => {
    const { id } = await newWorkspace({ rate_limits: { requests_per_minute: 1 } })
    const { key } = await gateway.makeKey({ workspace_id: id, rate_limits: { requests_per_minute: 2 } })
    expect((await ask(key)).status).toBe(200)
    clock.now += 30_000
    const refused = await ask(key)
    expect([messageOf(refused), refused.headers.get('retry-after')]).toEqual([
      expect.stringMatching(/^The workspace /),
      '30',
    ])
  })
})

describe('a limit of a model', () => {
  const limited = (models: object[]) => gateway.makeKey({ rate_limits: { models } })

  test('applies to every name of the model', async () => {
    const { key } = await limited([{ model: 'lab/tiny:nitro', requests_per_minute: 4 }])
    const names = ['tiny', 'little', 'tiny:floor', 'lab/tiny', 'tiny']
    const replies: number[] = []
    for (const name of names) replies.push((await ask(key, CHAT, { model: name })).status)
    expect(replies).toEqual([200, 200, 200, 200, 429])
    expect((await ask(key, CHAT, { model: 'large' })).status).toBe(200)
  })

  test('has no effect without such a model', async () => {
    const { key } = await limited([{ model: 'no/such-model', requests_per_minute: 1 }])
    expect(await statuses(key, 3)).toEqual([200, 200, 200])
  })

  test('moves a request to its next model if it is exhausted', async () => {
    const { key } = await limited([
      { model: 'tiny', requests_per_minute: 1 },
      { model: 'large', requests_per_minute: 1 },
    ])
    const more = { model: 'tiny', models: ['large'] }
    const first = await ask(key, CHAT, more)
    clock.now += 10_000
    const [second, third] = [await ask(key, CHAT, more), await ask(key, CHAT, more)]
    const answeredBy = ({ text }: Answer) => objectOf(JSON.parse(text))['model']
    expect([answeredBy(first), answeredBy(second), third.status]).toEqual(['tiny', 'large', 429])
    // The error names the model that is available first.
    expect([third.headers.get('retry-after'), messageOf(third)]).toEqual([
      '50',
      expect.stringContaining(' of tiny '),
    ])
    expect(answeredBy(await ask(key, CHAT, { ...more, models: ['large', 'spare'] }))).toBe('spare')
  })

  test('counts only models that were called, failed ones too', async () => {
    const { key } = await limited([
      { model: 'breaks', requests_per_minute: 1 },
      { model: 'large', requests_per_minute: 1, tokens_per_minute: 15 },
    ])
    // `tiny` answers, `large` would have been next.
    expect((await ask(key, CHAT, { model: 'tiny', models: ['large'] })).status).toBe(200)
    expect((await ask(key, CHAT, { model: 'breaks', models: ['large'] })).status).toBe(200)
    // Its circuit breaker allows another attempt by now, and the rate limit does not.
    clock.now += 59_000
    const refused = await ask(key, CHAT, { model: 'breaks' })
    expect([refused.status, messageOf(refused)]).toEqual([429, expect.stringContaining('of breaks a minute')])
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await ask(key, CHAT, { model: 'large' })).status).toBe(429)
    await idle()
  })
})

describe('concurrent requests', () => {
  test.each([false, true])('at a limit of 10: 10 of 500 are accepted, streamed: %p', async (stream) => {
    const { key, hash } = await gateway.makeKey({ rate_limits: { requests_per_minute: 10 } })
    const replies = await Promise.all(Array.from({ length: 500 }, () => ask(key, CHAT, { stream })))
    const counts = replies.map(({ status }) => status)
    expect([counts.filter((s) => s === 200).length, counts.filter((s) => s === 429).length]).toEqual([
      10, 490,
    ])
    expect(gateway.generations().filter((row) => row['key_hash'] === hash)).toHaveLength(10)
    await idle()
  })

  test('take money and rates together or not at all', async () => {
    const cent = { limit: 0.000_000_001, rate_limits: { requests_per_minute: 2, concurrent_requests: 1 } }
    const { key, hash } = await gateway.makeKey(cent)
    expect(await statuses(key, 5)).toEqual([402, 402, 402, 402, 402])
    await idle()
    await gateway.manage('PATCH', `/keys/${hash}`, { limit: 1 })
    expect(await statuses(key, 3, { max_tokens: 9 })).toEqual([200, 200, 429])
    const { data } = objectOf(await (await gateway.manage('GET', `/keys/${hash}`)).json())
    expect(objectOf(data)['usage']).toBeCloseTo(2 * 0.001_015, 9)
    await idle()
  })
})

test('a change applies to the next request, with the usage so far', async () => {
  const { key, hash } = await gateway.makeKey({ rate_limits: { requests_per_minute: 1 } })
  const change = (rate_limits: object | null) => gateway.manage('PATCH', `/keys/${hash}`, { rate_limits })
  expect(await statuses(key, 2)).toEqual([200, 429])
  await change({ requests_per_minute: 3 })
  expect(await statuses(key, 3)).toEqual([200, 200, 429])
  await change(null)
  expect(await statuses(key, 3)).toEqual([200, 200, 200])
  await change({ requests_per_minute: 3 })
  expect((await ask(key)).status).toBe(429)
})

test('a clock that is set back neither blocks a key nor gives it more', async () => {
  const { key } = await gateway.makeKey({ rate_limits: { requests_per_minute: 2 } })
  expect((await ask(key)).status).toBe(200)
  clock.now -= 1_800_000
  expect(await statuses(key, 2)).toEqual([200, 429])
  clock.now += 30_000
  expect(await statuses(key, 2)).toEqual([200, 429])
})

test('a key without limits is not checked', async () => {
  const { key, hash } = await gateway.makeKey({})
  expect(gateway.deps.snapshot.current().keysByHash.get(hash)).not.toHaveProperty('rateGates')
  const replies = await Promise.all(Array.from({ length: 50 }, () => ask(key)))
  expect(replies.every(({ status }) => status === 200)).toBe(true)
})
