import { describe, expect, test } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { administration } from './administration.ts'
import { listOf } from './people.ts'
import { makeWorkspace, workspaceActions } from './workspaces.ts'

let now = Date.UTC(2026, 6, 15, 12)
const admin = administration({ now: () => now })
const { manage } = admin

describe('budgets', () => {
  test('each interval has one, which is set, read, changed and deleted', async () => {
    const id = await makeWorkspace(admin, 'money')
    const budget = {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      workspace_id: id,
      limit_usd: 10.5,
      reset_interval: 'weekly',
      created_at: new Date(now).toISOString(),
      updated_at: new Date(now).toISOString(),
    }
    const made = await manage('PUT', '/workspaces/money/budgets/weekly', { limit_usd: 10.5 })
    expect([made.status, made.json]).toEqual([200, { data: budget, include_byok_in_budgets: false }])
    now += 1000
    const changed = await manage('PUT', `/workspaces/${id}/budgets/weekly`, {
      limit_usd: 12,
      include_byok_in_budgets: true,
    })
    expect(changed.json).toEqual({
      data: {
        ...objectOf(objectOf(made.json)['data']),
        limit_usd: 12,
        updated_at: new Date(now).toISOString(),
      },
      include_byok_in_budgets: true,
    })
    await manage('PUT', '/workspaces/money/budgets/lifetime', { limit_usd: 100 })
    const all = await manage('GET', '/workspaces/money/budgets')
    expect(listOf(all).map((row) => [row['reset_interval'], row['limit_usd']])).toEqual([
      ['weekly', 12],
      [null, 100],
    ])
    expect(objectOf(all.json)['include_byok_in_budgets']).toBe(true)
    expect((await manage('GET', '/workspaces/money/budgets/weekly')).json).toEqual(changed.json)
    for (let time = 0; time < 2; time++) {
      expect((await manage('DELETE', '/workspaces/money/budgets/weekly')).json).toEqual({ deleted: true })
    }
    expect((await manage('GET', '/workspaces/money/budgets/weekly')).status).toBe(404)
    expect(await workspaceActions(admin, id)).toEqual([
      'budget.delete',
      'budget.set',
      'budget.set',
      'budget.set',
      'workspace.create',
    ])
  })

  test('a longer interval must allow more than each shorter one that is set', async () => {
    await makeWorkspace(admin, 'order')
    const put = (interval: string, limit_usd: number) =>
      manage('PUT', `/workspaces/order/budgets/${interval}`, { limit_usd })
    expect((await put('daily', 5)).status).toBe(200)
    expect((await put('lifetime', 5)).text).toContain(
      'the lifetime budget (USD 5) must be larger than the daily one',
    )
    expect((await put('lifetime', 50)).status).toBe(200)
    expect((await put('monthly', 50)).status).toBe(400)
    expect((await put('monthly', 4)).status).toBe(400)
    expect((await put('monthly', 20)).status).toBe(200)
    expect((await put('daily', 20)).status).toBe(400)
    expect((await manage('GET', '/workspaces/order/budgets/daily')).json).toMatchObject({
      data: { limit_usd: 5 },
    })
  })
})
