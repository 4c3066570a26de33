/** Workspaces and people that tests make. */
import { expect } from 'bun:test'
import { atomically } from '../../src/db/database.ts'
import { users } from '../../src/db/tables.ts'
import type { Gateway } from '../gateway.ts'
import type { Administration } from './administration.ts'
import { dataOf, listOf } from './people.ts'

/** Ada, a member; Bob, an administrator; and a person who has been removed. */
export async function addPeople({ database, deps }: Gateway): Promise<void> {
  const { organizationId: organization_id } = deps.snapshot.current()
  const deleted_at = new Date(deps.now())
  await atomically(database, (tx) => [
    tx.insert(users).values([
      { id: 'user_ada', organization_id, name: 'Ada', role: 'member' },
      { id: 'user_bob', organization_id, name: 'Bob', role: 'admin' },
      { id: 'user_gone', organization_id, name: 'Gone', role: 'member', deleted_at },
    ]),
  ])
}

export async function makeWorkspace(
  { manage }: Administration,
  slug: string,
  more: object = {},
): Promise<string> {
  const reply = await manage('POST', '/workspaces', { name: slug, slug, ...more })
  expect([reply.status, reply.text]).toEqual([200, expect.any(String)])
  return String(dataOf(reply)['id'])
}

/** The entries of a workspace in the audit log, newest first. */
export const workspaceActions = async ({ manage }: Administration, id: string): Promise<unknown[]> =>
  listOf(await manage('GET', `/audit-log?limit=100&workspace_id=${id}`)).map(({ action }) => action)
