import { and, type Column, eq, exists, getTableColumns, inArray, isNull, ne, type SQL } from 'drizzle-orm'
import type { Actor } from '../../../core/actor.ts'
import { badRequest, notFound } from '../../../core/errors.ts'
import { newUuid } from '../../../core/ids.ts'
import { type AnyColumn, type AnyTable, type RowQuery, selectRows } from '../../../db/columns.ts'
import { type Db, requireThat } from '../../../db/database.ts'
import { apiKeys, guardrailKeys, guardrailMembers, guardrails, users } from '../../../db/tables.ts'
import type { ListQuery } from '../../../http/schemas.ts'
import { type Change, type ChangeDeps, change } from '../../change.ts'
import { listing, listPage } from '../../list.ts'
import { findGuardrail } from '../guardrails/service.ts'

/** What a guardrail can be assigned to: keys, or members with all the keys that they made. */
interface Kind {
  table: AnyTable
  id: AnyColumn
  guardrail: AnyColumn
  createdAt: AnyColumn
  /** The key's hash or the member's id. Unique: each has at most one guardrail. */
  subject: AnyColumn
  /** The noun in audit actions: `guardrail.assign_keys`. */
  noun: 'keys' | 'members'
  /** How the audit log names the subjects. */
  audited: 'key_hashes' | 'user_ids'
  /** Throws unless all subjects exist and may have a guardrail of this workspace. */
  require(deps: ChangeDeps, subjects: string[], workspaceId: string): Promise<void>
}

export const keyAssignments: Kind = {
  table: guardrailKeys,
  id: guardrailKeys.id,
  guardrail: guardrailKeys.guardrail_id,
  createdAt: guardrailKeys.created_at,
  subject: guardrailKeys.key_hash,
  noun: 'keys',
  audited: 'key_hashes',
  async require({ database }, hashes, workspaceId) {
    const rows = await database.db
      .select({ hash: apiKeys.hash, workspace_id: apiKeys.workspace_id })
      .from(apiKeys)
      .where(and(inArray(apiKeys.hash, hashes), eq(apiKeys.kind, 'inference'), isNull(apiKeys.deleted_at)))
    const workspaceOf = new Map(rows.map((row) => [row.hash, row.workspace_id]))
    for (const hash of hashes) {
      const shown = JSON.stringify(hash)
      if (!workspaceOf.has(hash)) throw notFound(`key_hashes: there is no API key with the hash ${shown}`)
      if (workspaceOf.get(hash) !== workspaceId)
        throw badRequest(`${shown} is a key of another workspace than that of the guardrail's`, 'key_hashes')
    }
  },
}

export const memberAssignments: Kind = {
  table: guardrailMembers,
  id: guardrailMembers.id,
  guardrail: guardrailMembers.guardrail_id,
  createdAt: guardrailMembers.created_at,
  subject: guardrailMembers.user_id,
  noun: 'members',
  audited: 'user_ids',
  async require({ database }, userIds) {
    const rows = await database.db
      .select({ id: users.id })
      .from(users)
      .where(and(inArray(users.id, userIds), isNull(users.deleted_at)))
    const missing = userIds.find((userId) => !rows.some(({ id }) => id === userId))
    if (missing === undefined) return
    throw notFound(`member_user_ids: ${JSON.stringify(missing)} is not a member of the organisation`)
  },
}

const assignmentList = <Row extends object>(
  { id, createdAt }: Kind,
  searched: readonly Column[],
  rows: (db: Db, where: SQL | undefined) => RowQuery<Row>,
) => listing({ rows, sorts: [id, createdAt], order: 'id', key: id, searched, filters: {} })

export const keyAssignmentList = assignmentList(keyAssignments, [apiKeys.name, apiKeys.label], (db, where) =>
  db
    .select({ ...getTableColumns(guardrailKeys), key_label: apiKeys.label, key_name: apiKeys.name })
    .from(guardrailKeys)
    .innerJoin(apiKeys, eq(apiKeys.hash, guardrailKeys.key_hash))
    .where(where)
    .$dynamic(),
)

export const memberAssignmentList = assignmentList(
  memberAssignments,
  [users.name, users.email],
  (db, where) =>
    db
      .select({ ...getTableColumns(guardrailMembers), organization_id: users.organization_id })
      .from(guardrailMembers)
      .innerJoin(users, eq(users.id, guardrailMembers.user_id))
      .where(where)
      .$dynamic(),
)

const shown = <Row extends { created_at: Date }>(row: Row) => ({
  ...row,
  created_at: row.created_at.toISOString(),
})

/** Of one guardrail; null: of all. */
async function ofGuardrail(deps: ChangeDeps, { guardrail }: Kind, guardrailId: string | null) {
  return guardrailId === null ? undefined : eq(guardrail, (await findGuardrail(deps, guardrailId)).id)
}

export const listKeyAssignments = async (deps: ChangeDeps, guardrailId: string | null, query: ListQuery) =>
  listPage(
    deps.database,
    keyAssignmentList,
    query,
    await ofGuardrail(deps, keyAssignments, guardrailId),
    shown,
  )

export const listMemberAssignments = async (deps: ChangeDeps, guardrailId: string | null, query: ListQuery) =>
  listPage(
    deps.database,
    memberAssignmentList,
    query,
    await ofGuardrail(deps, memberAssignments, guardrailId),
    shown,
  )

/** A subject that has another guardrail leaves it. All of them or none: 404 if one is unknown. */
export async function assign(
  deps: ChangeDeps,
  actor: Actor,
  kind: Kind,
  guardrailId: string,
  subjects: readonly string[],
): Promise<{ assigned_count: number }> {
  const { table, subject, noun, audited } = kind
  const guardrail = await findGuardrail(deps, guardrailId)
  const wanted = [...new Set(subjects)]
  await kind.require(deps, wanted, guardrail.workspace_id)
  const assigned = {
    action: `guardrail.assign_${noun}`,
    resourceId: guardrail.id,
    workspaceId: guardrail.workspace_id,
    after: { [audited]: wanted },
  } as const
  const leaving = await leavingFor(deps, kind, guardrail.id, wanted)
  await change(deps, actor, [...leaving, assigned], (tx) => [
    requireThat(tx, exists(selectRows(tx, guardrails, eq(guardrails.id, guardrail.id))), () =>
      notFound('There is no guardrail with this id'),
    ),
    tx.delete(table).where(inArray(subject, wanted)),
    tx.insert(table).values(
      wanted.map((each) => ({
        id: newUuid(),
        guardrail_id: guardrail.id,
        [subject.name]: each,
        assigned_by: actor.userId,
        created_at: new Date(deps.now()),
      })),
    ),
  ])
  return { assigned_count: wanted.length }
}

/** Audit entries of the guardrails, of any workspace, that these subjects leave for another one. */
async function leavingFor(
  { database: { db } }: ChangeDeps,
  { table, id, guardrail, subject, noun, audited }: Kind,
  guardrailId: string,
  subjects: string[],
): Promise<Change[]> {
  const rows = await db
    .select({ id: guardrails.id, workspaceId: guardrails.workspace_id, subject })
    .from(table)
    .innerJoin(guardrails, eq(guardrails.id, guardrail))
    .where(and(inArray(subject, subjects), ne(guardrail, guardrailId)))
    .orderBy(id)
  return [...Map.groupBy(rows, ({ id }) => String(id))].map(([id, left]) => ({
    action: `guardrail.unassign_${noun}`,
    resourceId: id,
    workspaceId: String(left[0]?.workspaceId),
    before: { [audited]: left.map((row) => row.subject) },
  }))
}

/** Skips subjects that are not assigned to it. */
export async function unassign(
  deps: ChangeDeps,
  actor: Actor,
  { table, guardrail: column, subject, noun, audited }: Kind,
  guardrailId: string,
  subjects: readonly string[],
): Promise<{ unassigned_count: number }> {
  const guardrail = await findGuardrail(deps, guardrailId)
  const isAssigned = and(eq(column, guardrail.id), inArray(subject, [...new Set(subjects)]))
  const rows = await deps.database.db.select({ subject }).from(table).where(isAssigned)
  if (rows.length === 0) return { unassigned_count: 0 }
  const removed = {
    action: `guardrail.unassign_${noun}`,
    resourceId: guardrail.id,
    workspaceId: guardrail.workspace_id,
    before: { [audited]: rows.map((row) => row.subject) },
  } as const
  await change(deps, actor, removed, (tx) => [tx.delete(table).where(isAssigned)])
  return { unassigned_count: rows.length }
}
