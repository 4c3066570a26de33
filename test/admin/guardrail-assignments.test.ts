import { beforeAll, describe, expect, test } from 'bun:test'
import { administration } from './administration.ts'
import { makeGuardrail } from './guardrails.ts'
import { makeKey } from './keys.ts'
import { listOf } from './people.ts'
import { addPeople, makeWorkspace } from './workspaces.ts'

const now = Date.UTC(2026, 6, 15, 12)
const admin = administration({ now: () => now })
const { manage } = admin

let otherKey = ''
const keys: string[] = []
beforeAll(async () => {
  await addPeople(admin.gateway)
  for (const name of ['a', 'b', 'c']) keys.push((await makeKey(admin, { name })).hash)
  const workspace_id = await makeWorkspace(admin, 'other')
  otherKey = (await makeKey(admin, { name: 'other', workspace_id })).hash
})

describe('assignments', () => {
  test.each([
    ['keys', 'key_hashes', 'key_hashes', () => keys.slice(0, 2)],
    ['members', 'member_user_ids', 'user_ids', () => ['user_ada']],
  ] as const)(
    'the audit log of a guardrail names the %s that were assigned to another',
    async (kind, field, name, of) => {
      const [first, second] = [await makeGuardrail(admin), await makeGuardrail(admin)]
      for (const id of [first, second, second]) {
        await manage('POST', `/guardrails/${id}/assignments/${kind}`, { [field]: of() })
      }
      const log = listOf(await manage('GET', `/audit-log?resource_id=${first}`))
      expect(log.map(({ action, before, after }) => [action, before, after])).toEqual([
        [`guardrail.unassign_${kind}`, { [name]: of() }, null],
        [`guardrail.assign_${kind}`, null, { [name]: of() }],
        ['guardrail.create', null, expect.anything()],
      ])
      expect(listOf(await manage('GET', `/audit-log?resource_id=${second}`))).toHaveLength(3)
    },
  )

  test('a key has one guardrail: a second one replaces the first', async () => {
    const [first, second] = [
      await makeGuardrail(admin, { name: 'first' }),
      await makeGuardrail(admin, { name: 'second' }),
    ]
    const assign = (id: string, key_hashes: unknown[]) =>
      manage('POST', `/guardrails/${id}/assignments/keys`, { key_hashes })
    expect((await assign(first, [keys[0], keys[1], keys[0]])).json).toEqual({ assigned_count: 2 })
    expect((await assign(second, [keys[1]])).json).toEqual({ assigned_count: 1 })
    const ofFirst = await manage('GET', `/guardrails/${first}/assignments/keys`)
    expect(ofFirst.json).toEqual({
      data: [
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          guardrail_id: first,
          key_hash: keys[0],
          key_label: expect.stringContaining('...'),
          key_name: 'a',
          assigned_by: expect.stringMatching(/^user_/),
          created_at: new Date(now).toISOString(),
        },
      ],
      total_count: 1,
      next_cursor: null,
    })
    const all = await manage('GET', '/guardrails/assignments/keys')
    expect(listOf(all).map((row) => [row['guardrail_id'], row['key_name']])).toEqual([
      [first, 'a'],
      [second, 'b'],
    ])
    expect((await manage('GET', '/guardrails/assignments/keys?offset=1')).json).toMatchObject({
      total_count: 2,
      next_cursor: null,
    })

    const remove = (key_hashes: unknown[]) =>
      manage('POST', `/guardrails/${second}/assignments/keys/remove`, { key_hashes })
    // Of another guardrail, unknown, and its own.
    expect((await remove([keys[0], 'f'.repeat(64), keys[1]])).json).toEqual({ unassigned_count: 1 })
    expect((await remove([keys[1]])).json).toEqual({ unassigned_count: 0 })
    await manage('DELETE', `/guardrails/${first}`)
    expect((await manage('GET', '/guardrails/assignments/keys')).json).toEqual({
      data: [],
      total_count: 0,
      next_cursor: null,
    })
  })

  test('either all keys of a request are assigned or none', async () => {
    const id = await makeGuardrail(admin)
    const assign = (key_hashes: unknown[]) =>
      manage('POST', `/guardrails/${id}/assignments/keys`, { key_hashes })
    const unknown = await assign([keys[2], '0'.repeat(64)])
    expect([unknown.status, unknown.text]).toEqual([404, expect.stringContaining('0'.repeat(64))])
    const foreign = await assign([keys[2], otherKey])
    expect([foreign.status, foreign.text]).toEqual([400, expect.stringContaining('another workspace')])
    expect((await manage('GET', `/guardrails/${id}/assignments/keys`)).json).toEqual({
      data: [],
      total_count: 0,
      next_cursor: null,
    })
  })
})

test('a member has one guardrail, and either all members of a request are assigned or none', async () => {
  const [first, second] = [await makeGuardrail(admin), await makeGuardrail(admin)]
  const assign = (id: string, member_user_ids: string[]) =>
    manage('POST', `/guardrails/${id}/assignments/members`, { member_user_ids })
  expect((await assign(first, ['user_ada', 'user_bob'])).json).toEqual({ assigned_count: 2 })
  expect((await assign(second, ['user_bob'])).json).toEqual({ assigned_count: 1 })
  expect((await assign(second, ['user_ada', 'user_nobody'])).status).toBe(404)
  expect((await manage('GET', `/guardrails/${first}/assignments/members`)).json).toEqual({
    data: [
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        guardrail_id: first,
        user_id: 'user_ada',
        organization_id: expect.stringMatching(/^org_/),
        assigned_by: expect.stringMatching(/^user_/),
        created_at: new Date(now).toISOString(),
      },
    ],
    total_count: 1,
    next_cursor: null,
  })
  const all = await manage('GET', '/guardrails/assignments/members')
  expect(listOf(all).map((row) => row['user_id'])).toEqual(['user_ada', 'user_bob'])
  const removed = await manage('POST', `/guardrails/${first}/assignments/members/remove`, {
    member_user_ids: ['user_ada', 'user_bob'],
  })
  expect(removed.json).toEqual({ unassigned_count: 1 })
})
