/** Two requests at the same time: what belongs to a workspace, a guardrail or a person never outlives it. */
import { describe, expect, test } from 'bun:test'
import { atomically } from '../../src/db/database.ts'
import { users } from '../../src/db/tables.ts'
import { objectOf } from '../../src/http/json.ts'
import { administration } from './administration.ts'
import { dataOf, listOf } from './people.ts'

const admin = administration()
const { manage } = admin

type Request = readonly [method: string, path: string, body?: unknown]
/** How many steps of the event loop's queue one request is ahead of the other: so each meets the other at every step. */
const LEADS = Array.from({ length: 41 }, (_, index) => 2 * index - 40)

/** Sends two requests, for each lead of one over the other; no reply is a failure of the server. */
async function race(pair: (name: string) => Promise<readonly [Request, Request]>): Promise<number[][]> {
  const all: number[][] = []
  for (const [index, lead] of LEADS.entries()) {
    const [one, other] = await pair(`n${index}`)
    const replies = await Promise.all([after(-lead, one), after(lead, other)])
    for (const { status, text } of replies) expect([status < 500, text]).toEqual([true, expect.any(String)])
    all.push(replies.map(({ status }) => status))
  }
  return all
}
async function after(steps: number, [method, path, body]: Request) {
  for (let step = 0; step < steps; step++) await Promise.resolve()
  return manage(method, path, body)
}

const newWorkspace = async (slug: string): Promise<string> =>
  String(dataOf(await manage('POST', '/workspaces', { name: slug, slug }))['id'])
const rows = (query: string): unknown[] => admin.gateway.database.file.query(query).all()
const OF_DELETED = 'where workspace_id in (select id from workspaces where deleted_at is not null)'

describe('a workspace is deleted while', () => {
  test.each([
    ['a key is created in it', '/keys', { name: 'late' }, 'api_keys', ' and deleted_at is null'],
    [
      'a BYOK key is stored in it',
      '/byok',
      { provider: 'openai', key: `sk-${'k'.repeat(20)}` },
      'byok_keys',
      '',
    ],
    [
      'a destination is made in it',
      '/observability/destinations',
      { name: 'late', type: 'webhook', config: { url: 'https://hooks.example.com/x' } },
      'observability_destinations',
      '',
    ],
    ['a guardrail is made in it', '/guardrails', { name: 'late' }, 'guardrails', ''],
    ['a budget is set in it', null, { limit_usd: 5 }, 'workspace_budgets', ''],
  ])('%s', async (_, path, body, table, condition) => {
    await race(async (order) => {
      const id = await newWorkspace(`${table.replaceAll('_', '-')}-${order}`)
      const making: Request =
        path === null
          ? ['PUT', `/workspaces/${id}/budgets/daily`, body]
          : ['POST', path, { ...body, workspace_id: id }]
      return [making, ['DELETE', `/workspaces/${id}`]]
    })
    expect(rows(`select workspace_id from ${table} ${OF_DELETED}${condition}`)).toEqual([])
  })

  test('a preset is made in it', async () => {
    await race(async (order) => {
      const id = await newWorkspace(`presets-${order}`)
      const path = `/presets/late/chat/completions?workspace_id=${id}`
      return [
        ['POST', path, { temperature: 1 }],
        ['DELETE', `/workspaces/${id}`],
      ]
    })
    expect(rows(`select workspace_id from presets ${OF_DELETED}`)).toEqual([])
  })

  test('it becomes the default one', async () => {
    const ofDefault = 'where id = (select default_workspace_id from organizations)'
    const defaults: unknown[] = []
    for (const { hash } of listOf(await manage('GET', '/keys'))) await manage('DELETE', `/keys/${hash}`)
    const all = await race(async (order) => {
      for (const name of ['next', 'stays']) await newWorkspace(`${name}-${order}`)
      const [first, second] = listOf(await manage('GET', '/workspaces')).slice(0, 2)
      defaults.push(...rows(`select deleted_at from workspaces ${ofDefault}`))
      return [
        ['DELETE', `/workspaces/${first?.['id']}?confirm_default_workspace_deletion=true`],
        ['DELETE', `/workspaces/${second?.['id']}`],
      ]
    })
    expect(all.filter(([first]) => first === 200).length).toBeGreaterThan(0)
    expect(defaults).toEqual(LEADS.map(() => ({ deleted_at: null })))
  })
})

describe('two budgets of a workspace are set at once', () => {
  const budgets = (slug: string, one: [string, object], other: [string, object]) =>
    race(async (order) => {
      const id = await newWorkspace(`${slug}-${order}`)
      const [first, second] = [one, other].map(
        ([interval, body]): Request => ['PUT', `/workspaces/${id}/budgets/${interval}`, body],
      )
      return [first ?? ['GET', '/'], second ?? ['GET', '/']]
    })

  test('of one interval: the audit log names the stored budget', async () => {
    await budgets('same', ['daily', { limit_usd: 5 }], ['daily', { limit_usd: 6 }])
    const stored =
      "select budgets.id from workspace_budgets budgets join workspaces on workspaces.id = workspace_id where slug like 'same-%'"
    const audited =
      "select resource_id from audit_log join workspaces on workspaces.id = workspace_id where action = 'budget.set' and slug like 'same-%'"
    expect(rows(`${audited} and resource_id not in (${stored})`)).toEqual([])
    expect(rows(stored)).toHaveLength(LEADS.length)
  })

  test('and one of them counts BYOK keys: they count', async () => {
    await budgets(
      'counted',
      ['daily', { limit_usd: 5, include_byok_in_budgets: true }],
      ['weekly', { limit_usd: 50 }],
    )
    expect(
      rows("select slug from workspaces where slug like 'counted-%' and not include_byok_in_budgets"),
    ).toEqual([])
  })
})

test('a guardrail is deleted while a key is assigned to it', async () => {
  const { data } = objectOf((await manage('POST', '/keys', { name: 'assigned' })).json)
  const body = { key_hashes: [objectOf(data)['hash']] }
  await race(async (name) => {
    const { id } = dataOf(await manage('POST', '/guardrails', { name }))
    return [
      ['POST', `/guardrails/${id}/assignments/keys`, body],
      ['DELETE', `/guardrails/${id}`],
    ]
  })
})

test('a person is removed while a key is created for them', async () => {
  const { organizationId: organization_id } = admin.gateway.deps.snapshot.current()
  const all = await race(async (name) => {
    await atomically(admin.gateway.database, (tx) => [
      tx.insert(users).values({ id: name, organization_id, name, role: 'member' }),
    ])
    return [
      ['POST', '/keys', { name, creator_user_id: name }],
      ['DELETE', `/organization/members/${name}`],
    ]
  })
  for (const statuses of all) expect(statuses.filter((status) => status < 300)).toHaveLength(1)
})
