import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../../src/core/errors.ts'
import { gatewayOfFile, labOf } from '../../file-setup.ts'
import { API_KEY } from '../../gateway.ts'
import { startUpstream, unary } from '../../upstream.ts'
import { conversation, familyOf } from './family.ts'

const CENT = 10_000_000

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    providers: [
      // A cent for each answer: all of it is the request fee.
      labOf(
        upstream,
        ['cent', 'failing'].map((id) => ({
          id,
          pricing: { prompt: '0', completion: '0', request: '0.01' },
        })),
      ),
    ],
  },
  upstream,
)
upstream.on('cent', unary('An answer'))

const rowsOf = (parentId: string) => gateway.generations().filter((row) => row['parent_id'] === parentId)
/** Journal rows of settled generations go with a later commit, so those of other tests may still be there. */
const journaled = async (parentId: string): Promise<unknown[]> => {
  const query = gateway.database.file.query('SELECT prompt_cost_nano_usd FROM journal WHERE parent_id = ?')
  while (query.all(parentId).length === 0) await new Promise(setImmediate)
  return query.all(parentId)
}
const statusOf = (error: unknown): number => (error instanceof GatewayError ? error.status : 0)
const payment = (atMostNanoUsd: number) => ({
  kind: 'tool',
  name: 'openrouter:web_search',
  engine: 'searxng',
  atMostNanoUsd,
})

describe('ask', () => {
  test('has its own conversation and row, and is a step of its parent', async () => {
    const { family, ask } = familyOf(gateway, API_KEY)
    const asked = await ask(conversation('cent'), { kind: 'panel' })
    expect(asked.result.choices[0]?.text).toBe('An answer')
    expect(asked).toMatchObject({ model: 'cent', providerName: 'lab', closing: { costNanoUsd: CENT } })
    expect(rowsOf(family.id)).toMatchObject([
      {
        id: asked.id,
        model: 'cent',
        cost_nano_usd: CENT,
        finish_reason: 'stop',
        step: '{"kind":"panel"}',
        external_user: 'anna',
        request_id: family.incoming.id,
      },
    ])
    expect(family.steps).toMatchObject({ costNanoUsd: CENT, tools: { costNanoUsd: 0 } })
  })

  test('sends what the gateway wrote, and nothing of the caller', async () => {
    const { ask } = familyOf(gateway, API_KEY)
    await ask({ ...conversation('cent'), sampling: { temperature: 0 } }, { kind: 'panel' })
    expect(upstream.seen.at(-1)?.body).toEqual({
      model: 'cent',
      messages: [{ role: 'user', content: 'Hello' }],
      temperature: 0,
      max_tokens: 5,
    })
  })

  test('throws the error that the caller would get', async () => {
    const { family, ask } = familyOf(gateway, API_KEY)
    upstream.on('failing', () => Response.json({ error: { message: 'broken' } }, { status: 400 }))
    expect(statusOf(await ask(conversation('failing'), { kind: 'panel' }).catch((e) => e))).toBe(400)
    expect(statusOf(await ask(conversation('unknown'), { kind: 'panel' }).catch((e) => e))).toBe(404)
    expect(rowsOf(family.id)).toMatchObject([{ model: 'failing', finish_reason: 'error', cost_nano_usd: 0 }])
    expect(family.steps.costNanoUsd).toBe(0)
  })

  test('ends when the client disconnects, and when its own signal aborts', async () => {
    const seen = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    upstream.on('failing', async () => {
      seen.resolve()
      await released.promise
      return Response.json({})
    })
    const leaving = new AbortController()
    const own = new AbortController()
    const { family, ask } = familyOf(gateway, API_KEY, leaving.signal)
    const asked = [
      ask(conversation('failing'), { kind: 'panel' }),
      ask(conversation('failing'), { kind: 'judge', signal: own.signal }),
    ].map((each) => each.catch(statusOf))
    await seen.promise
    own.abort()
    expect(await asked[1]).toBe(499)
    leaving.abort()
    expect(await asked[0]).toBe(499)
    released.resolve()
    expect(rowsOf(family.id).map(({ cancelled }) => cancelled)).toEqual([1, 1])
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  })

  test('a policy of the caller holds for the step', async () => {
    const { family, ask } = familyOf(gateway, API_KEY)
    family.request.preferences.enforceDistillableText = true
    expect(statusOf(await ask(conversation('cent'), { kind: 'panel' }).catch((e) => e))).toBe(404)
  })
})

describe('pay', () => {
  test('reserves before the call, settles what it cost, and counts', async () => {
    const { family, pay } = familyOf(gateway, API_KEY)
    const value = await pay(payment(3 * CENT), async () => {
      expect(gateway.deps.ledger.heldNanoUsd()).toBe(3 * CENT)
      // A crash during the call is charged as reserved.
      expect(await journaled(family.id)).toEqual([{ prompt_cost_nano_usd: 3 * CENT }])
      return { value: 'found', costNanoUsd: 2 * CENT, counts: { searches: 1, searchResults: 5 } }
    })
    expect(value).toBe('found')
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
    expect(rowsOf(family.id)).toMatchObject([
      {
        model: 'openrouter:web_search',
        provider_slug: 'searxng',
        api_type: 'tool',
        cost_nano_usd: 2 * CENT,
        finish_reason: 'stop',
        step: '{"kind":"tool","searches":1,"searchResults":5}',
      },
    ])
    expect(family.steps).toMatchObject({
      costNanoUsd: 2 * CENT,
      tools: { costNanoUsd: 2 * CENT, searches: 1 },
    })
  })

  test('a call that fails is free, and its error is thrown', async () => {
    const { family, pay } = familyOf(gateway, API_KEY)
    const failing = pay(payment(CENT), async () => {
      throw new Error('the engine is down')
    })
    expect(failing).rejects.toThrow('the engine is down')
    await failing.catch(() => undefined)
    expect(rowsOf(family.id)).toMatchObject([{ finish_reason: 'error', cancelled: 0, cost_nano_usd: 0 }])
  })

  test('a call that a disconnect ended is charged as it was reserved', async () => {
    const leaving = new AbortController()
    const { family, pay } = familyOf(gateway, API_KEY, leaving.signal)
    const paying = pay(payment(CENT), async (signal) => {
      leaving.abort()
      signal.throwIfAborted()
      return { value: 1, costNanoUsd: 1 }
    })
    expect(statusOf(await paying.catch((e) => e))).toBe(499)
    expect(rowsOf(family.id)).toMatchObject([
      { cancelled: 1, cost_nano_usd: CENT, usage_source: 'estimated' },
    ])
    const after = pay(payment(CENT), async () => ({ value: 1, costNanoUsd: 1 }))
    expect(statusOf(await after.catch((e) => e))).toBe(499)
    expect(rowsOf(family.id)).toHaveLength(1)
  })
})

test('500 requests of three steps at once, a cent each, spend a ten-cent limit exactly', async () => {
  const { key, hash } = await gateway.makeKey({ limit: 0.1, limit_reset: 'daily' })
  const run = async () => {
    const { ask, pay } = familyOf(gateway, key)
    await ask(conversation('cent'), { kind: 'loop' })
    await pay(payment(CENT), async () => ({ value: null, costNanoUsd: CENT }))
    await ask(conversation('cent'), { kind: 'loop' })
  }
  const statuses = await Promise.all(Array.from({ length: 500 }, () => run().then(() => 200, statusOf)))
  expect(new Set(statuses)).toEqual(new Set([402]))
  const spent = gateway.generations().filter((row) => row['key_hash'] === hash)
  expect(spent.reduce((sum, row) => sum + Number(row['cost_nano_usd']), 0)).toBe(10 * CENT)
  expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
})
