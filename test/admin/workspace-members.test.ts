import { beforeAll, describe, expect, test } from 'bun:test'
import { administration } from './administration.ts'
import { listOf } from './people.ts'
import { addPeople, makeWorkspace, workspaceActions } from './workspaces.ts'

const now = Date.UTC(2026, 6, 15, 12)
const admin = administration({ now: () => now })
const { manage } = admin

beforeAll(() => addPeople(admin.gateway))

describe('members', () => {
  test('the creator is one; more are added, listed and removed', async () => {
    const id = await makeWorkspace(admin, 'team')
    const [maker] = listOf(await manage('GET', '/workspaces/team/members'))
    expect(maker).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      user_id: expect.stringMatching(/^user_/),
      workspace_id: id,
      role: 'admin',
      created_at: new Date(now).toISOString(),
    })
    const user_ids = ['user_ada', 'user_bob', 'user_ada']
    const added = await manage('POST', '/workspaces/team/members/add', { user_ids })
    expect(added.json).toMatchObject({
      added_count: 2,
      data: [
        { user_id: 'user_ada', role: 'member', workspace_id: id },
        { user_id: 'user_bob', role: 'admin', workspace_id: id },
      ],
    })
    // Again: nothing new, the same memberships.
    expect((await manage('POST', '/workspaces/team/members/add', { user_ids })).json).toEqual(added.json)
    expect((await manage('GET', '/workspaces/team/members?limit=1')).json).toMatchObject({ total_count: 3 })
    const removed = await manage('POST', '/workspaces/team/members/remove', { user_ids: ['user_ada'] })
    expect(removed.json).toEqual({ removed_count: 1 })
    expect(
      (await manage('POST', '/workspaces/team/members/remove', { user_ids: ['user_ada'] })).json,
    ).toEqual({
      removed_count: 0,
    })
    expect(await workspaceActions(admin, id)).toEqual([
      'workspace.remove_members',
      'workspace.add_members',
      'workspace.create',
    ])
  })

  test('no member is removed while one of them has an active key there', async () => {
    const id = await makeWorkspace(admin, 'holders')
    await manage('POST', '/workspaces/holders/members/add', { user_ids: ['user_ada', 'user_bob'] })
    await manage('POST', '/keys', { name: 'of Ada', workspace_id: id, creator_user_id: 'user_ada' })
    const refused = await manage('POST', '/workspaces/holders/members/remove', {
      user_ids: ['user_bob', 'user_ada'],
    })
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('user_ada has active API keys')
    expect(refused.text).toContain('of Ada')
    expect((await manage('GET', '/workspaces/holders/members')).json).toMatchObject({ total_count: 3 })
  })
})
