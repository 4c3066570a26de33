import { describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { gatewayOfFile, labOf } from '../file-setup.ts'
import { frames, paced, startUpstream, unary } from '../upstream.ts'

/**
 * When limits reset, at the real gateway with a clock of the test's: the same in whatever zone the host is
 * (clock-zones.test.ts runs this file in others).
 */

let now = Date.UTC(2026, 10, 18, 12)
let made = 0

const CENT_USD = 0.01
const HOUR_MS = 3_600_000

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    now: () => now,
    // A request whose money another one holds is refused at once.
    environment: { SLUICE_ROOM_WAIT_MS: '0' },
    providers: [
      // A cent for each answer: all of it is the request fee.
      labOf(
        upstream,
        ['cent', 'slow'].map((id) => ({
          id,
          pricing: { prompt: '0', completion: '0', request: '0.01' },
        })),
      ),
    ],
  },
  upstream,
)
upstream.on('cent', unary('x'))

const at = (instant: string): number => Date.parse(instant)

async function dataOf(response: Response): Promise<Record<string, unknown>> {
  const text = await response.text()
  expect({ ok: response.ok, text }).toEqual({ ok: true, text })
  return objectOf(objectOf(JSON.parse(text))['data'])
}

async function send(
  key: string,
  model = 'cent',
  more: object = {},
): Promise<{ status: number; text: string }> {
  const body = { model, max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }], ...more }
  const response = await gateway.call('/chat/completions', body, { authorization: `Bearer ${key}` })
  return { status: response.status, text: await response.text() }
}

type Interval = 'daily' | 'weekly' | 'monthly'
interface Bounded {
  key: string
  hash: string
  /** What has to be undone before the next one. */
  guardrail?: string
}

async function guardrail(workspaceId: unknown, interval: Interval): Promise<string> {
  const fields = { name: 'Careful', workspace_id: workspaceId, limit_usd: CENT_USD, reset_interval: interval }
  return String((await dataOf(await gateway.manage('POST', '/guardrails', fields)))['id'])
}

const ownKey = async () => {
  const { id } = await ownWorkspace()
  return { id, key: await gateway.makeKey({ workspace_id: id }) }
}

/** A key in a workspace of its own that may spend a cent in each window, by one kind of bound. */
const BOUNDS: { kind: string; status: number; says: string; make(interval: Interval): Promise<Bounded> }[] = [
  {
    kind: 'the limit of a key',
    status: 402,
    says: "This key's",
    make: (interval) => gateway.makeKey({ limit: CENT_USD, limit_reset: interval }),
  },
  {
    kind: 'the budget of a workspace',
    status: 403,
    says: "The budget of this workspace's",
    async make(interval) {
      const { id } = await ownWorkspace()
      await dataOf(
        await gateway.manage('PUT', `/workspaces/${id}/budgets/${interval}`, { limit_usd: CENT_USD }),
      )
      return gateway.makeKey({ workspace_id: id })
    },
  },
  {
    kind: 'the guardrail of a key',
    status: 403,
    says: 'The guardrail "Careful"\'s',
    async make(interval) {
      const { id, key } = await ownKey()
      const made = await guardrail(id, interval)
      await gateway.manage('POST', `/guardrails/${made}/assignments/keys`, { key_hashes: [key.hash] })
      return { ...key, guardrail: made }
    },
  },
  {
    kind: 'the guardrail of a member',
    status: 403,
    says: 'The guardrail "Careful"\'s',
    async make(interval) {
      const { id, key } = await ownKey()
      const made = await guardrail(id, interval)
      const { creator_user_id: member } = await dataOf(await gateway.manage('GET', `/keys/${key.hash}`))
      await gateway.manage('POST', `/guardrails/${made}/assignments/members`, { member_user_ids: [member] })
      return { ...key, guardrail: made }
    },
  },
]

async function ownWorkspace(): Promise<Record<string, unknown>> {
  made += 1
  return dataOf(await gateway.manage('POST', '/workspaces', { name: `Clock ${made}`, slug: `clock-${made}` }))
}

const RESETS: [what: string, interval: Interval, spentAt: string, resetsAt: string][] = [
  ['midnight', 'daily', '2026-11-18T23:59:59.999Z', '2026-11-19T00:00:00Z'],
  ['a Sunday’s midnight', 'weekly', '2026-11-22T23:59:59.999Z', '2026-11-23T00:00:00Z'],
  ['a week from its first instant', 'weekly', '2026-11-23T00:00:00Z', '2026-11-30T00:00:00Z'],
  ['a month of 30 days', 'monthly', '2026-11-30T23:59:59.999Z', '2026-12-01T00:00:00Z'],
  ['the year’s last day', 'daily', '2026-12-31T12:00:00Z', '2027-01-01T00:00:00Z'],
  ['a week in two years', 'weekly', '2026-12-31T23:00:00Z', '2027-01-04T00:00:00Z'],
  ['the year’s last month', 'monthly', '2026-12-31T23:59:59Z', '2027-01-01T00:00:00Z'],
  ['a February of 28 days', 'monthly', '2027-02-28T23:30:00Z', '2027-03-01T00:00:00Z'],
  ['the day before a leap day', 'daily', '2028-02-28T23:30:00Z', '2028-02-29T00:00:00Z'],
  ['a leap day', 'daily', '2028-02-29T00:00:00Z', '2028-03-01T00:00:00Z'],
  ['a week with a leap day', 'weekly', '2028-02-29T23:59:00Z', '2028-03-06T00:00:00Z'],
  ['a month with a leap day', 'monthly', '2028-02-29T23:59:59.999Z', '2028-03-01T00:00:00Z'],
]

describe.each(BOUNDS)('$kind', ({ make, status, says }) => {
  test.each(RESETS)('%s: %s', async (_, interval, spentAt, resetsAt) => {
    now = at(spentAt)
    const { key, guardrail: own } = await make(interval)
    expect((await send(key)).status).toBe(200)
    for (const refusedAt of [at(spentAt), at(resetsAt) - 1]) {
      now = refusedAt
      const refused = await send(key)
      expect(refused.status).toBe(status)
      const { error } = JSON.parse(refused.text)
      expect(error.message).toContain(`${says} ${interval} limit of $0.01 is reached`)
      expect(error.message).toContain(`It resets at ${resetsAt};`)
    }
    now = at(resetsAt)
    expect((await send(key)).status).toBe(200)
    expect((await send(key)).status).toBe(status)
    // A member holds one guardrail at a time.
    if (own !== undefined) expect((await gateway.manage('DELETE', `/guardrails/${own}`)).status).toBe(200)
  })

  test('a step back of an hour, into the day before, neither locks out nor gives more', async () => {
    now = at('2026-11-19T00:30:00Z')
    const { key, guardrail: own } = await make('daily')
    expect((await send(key)).status).toBe(200)
    now -= HOUR_MS
    // The 18th has its own cent, and no more than that.
    expect([(await send(key)).status, (await send(key)).status]).toEqual([200, status])
    now += HOUR_MS
    expect((await send(key)).status).toBe(status)
    now = at('2026-11-20T00:00:00Z')
    expect((await send(key)).status).toBe(200)
    now -= 25 * HOUR_MS
    expect((await send(key)).status).toBe(status)
    if (own !== undefined) await gateway.manage('DELETE', `/guardrails/${own}`)
  })
})

test('the limit of a key and its usage in one window after the other are those of the record', async () => {
  now = at('2028-02-29T23:59:59Z')
  const { key, hash } = await gateway.makeKey({ limit: 2 * CENT_USD, limit_reset: 'daily' })
  const record = async () => await dataOf(await gateway.manage('GET', `/keys/${hash}`))
  await send(key)
  const spent = { usage: CENT_USD, usage_daily: CENT_USD, usage_weekly: CENT_USD, usage_monthly: CENT_USD }
  expect(await record()).toMatchObject({ ...spent, limit_remaining: CENT_USD })
  now = at('2028-03-01T00:00:00Z')
  expect(await record()).toMatchObject({
    ...spent,
    usage_daily: 0,
    usage_monthly: 0,
    limit_remaining: 2 * CENT_USD,
  })
  now = at('2028-03-06T00:00:00Z')
  expect(await record()).toMatchObject({ usage: CENT_USD, usage_daily: 0, usage_weekly: 0, usage_monthly: 0 })
})

const LONG: [what: string, interval: Interval, from: string, to: string][] = [
  ['over midnight', 'daily', '2026-11-18T23:59:00Z', '2026-11-19T00:20:00Z'],
  ['over a Sunday', 'weekly', '2026-11-22T23:59:00Z', '2026-11-23T00:20:00Z'],
  ['into a leap day', 'daily', '2028-02-28T23:59:00Z', '2028-02-29T00:20:00Z'],
  ['over the year’s end', 'monthly', '2026-12-31T23:59:00Z', '2027-01-01T00:20:00Z'],
  ['while the clock is set back', 'daily', '2026-11-19T00:20:00Z', '2026-11-18T23:20:00Z'],
]

describe.each(BOUNDS)('a long request books to its start: $kind', ({ make, status }) => {
  test.each(LONG)('%s: %s', async (_, interval, from, to) => {
    now = at(from)
    const { key, hash, guardrail: own } = await make(interval)
    const goesOn = Promise.withResolvers<void>()
    const isAsked = Promise.withResolvers<void>()
    upstream.on('slow', () => {
      isAsked.resolve()
      return paced(frames(['x', 'y']), 'close', () => goesOn.promise)
    })
    const long = send(key, 'slow', { stream: true })
    await isAsked.promise
    // What it holds, it holds in the window in which it began …
    expect((await send(key)).status).toBe(status)
    now = at(to)
    // … and the other one is free.
    expect((await send(key)).status).toBe(200)
    goesOn.resolve()
    expect((await long).text).toEndWith('data: [DONE]\n\n')
    expect((await send(key)).status).toBe(status)
    now = at(from)
    expect((await send(key)).status).toBe(status)

    const rows = gateway.generations().filter((row) => row['key_hash'] === hash)
    expect(rows.map((row) => row['created_at']).sort()).toEqual([at(from), at(to)].sort())
    gateway.deps.ledger.fold()
    const days = gateway.database.file
      .query<{ day: number; spent: number }, [string]>(
        'SELECT day, sum(usage_nano_usd) AS spent FROM usage_daily WHERE key_hash = ? GROUP BY day ORDER BY day',
      )
      .all(hash)
    const dayOf = (instant: string) => at(`${instant.slice(0, 10)}T00:00:00Z`)
    expect(days).toEqual([dayOf(from), dayOf(to)].sort().map((day) => ({ day, spent: 10_000_000 })))
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
    if (own !== undefined) await gateway.manage('DELETE', `/guardrails/${own}`)
  })
})

const zone = process.env['SLUICE_TEST_ZONE']
test.if(zone !== undefined)('the host is in the zone of the setting', () => {
  expect(Intl.DateTimeFormat().resolvedOptions().timeZone).toBe(zone ?? '')
})
