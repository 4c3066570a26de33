import { and, count, eq, inArray, isNull, ne, type SQL } from 'drizzle-orm'
import type { Actor } from '../../core/actor.ts'
import { badRequest, notFound } from '../../core/errors.ts'
import { newUuid } from '../../core/ids.ts'
import { apiKeys, guardrailKeys, guardrails } from '../../db/tables.ts'
import { pageOf } from '../../http/schemas.ts'
import { type Change, type ChangeDeps, change } from '../change.ts'
import { findGuardrail } from '../guardrails/service.ts'
import type { KeyAssignment, ListAssignmentsQuery } from './schema.ts'

/** Of one guardrail, or of all (`null`); in the order of assigning. */
export async function listKeyAssignments(
  { database }: ChangeDeps,
  guardrailId: string | null,
  query: ListAssignmentsQuery,
): Promise<{ data: KeyAssignment[]; total_count: number }> {
  let listed: SQL | undefined
  if (guardrailId !== null) {
    listed = eq(guardrailKeys.guardrail_id, (await findGuardrail(database, guardrailId)).id)
  }
  const { limit, offset } = pageOf(query)
  const rows = await database.db
    .select({
      id: guardrailKeys.id,
      guardrail_id: guardrailKeys.guardrail_id,
      key_hash: guardrailKeys.key_hash,
      key_label: apiKeys.label,
      key_name: apiKeys.name,
      assigned_by: guardrailKeys.assigned_by,
      created_at: guardrailKeys.created_at,
    })
    .from(guardrailKeys)
    .innerJoin(apiKeys, eq(apiKeys.hash, guardrailKeys.key_hash))
    .where(listed)
    .orderBy(guardrailKeys.id)
    .limit(limit)
    .offset(offset)
  const [total] = await database.db.select({ assignments: count() }).from(guardrailKeys).where(listed)
  return {
    data: rows.map((row) => ({ ...row, created_at: row.created_at.toISOString() })),
    total_count: total?.assignments ?? 0,
  }
}

/** A key that has another guardrail leaves it. All of them or none: 404 when one is unknown. */
export async function assignKeys(
  deps: ChangeDeps,
  actor: Actor,
  guardrailId: string,
  keyHashes: readonly string[],
): Promise<{ assigned_count: number }> {
  const guardrail = await findGuardrail(deps.database, guardrailId)
  const wanted = [...new Set(keyHashes)]
  await requireKeys(deps, wanted, guardrail.workspace_id)
  const assigned = {
    action: 'guardrail.assign_keys',
    resourceId: guardrail.id,
    workspaceId: guardrail.workspace_id,
    after: { key_hashes: wanted },
  } as const
  await change(deps, actor, [...leaving(deps, guardrail.id, wanted), assigned], (tx) => [
    tx.delete(guardrailKeys).where(inArray(guardrailKeys.key_hash, wanted)),
    tx.insert(guardrailKeys).values(
      wanted.map((hash) => ({
        id: newUuid(),
        guardrail_id: guardrail.id,
        key_hash: hash,
        assigned_by: actor.userId,
        created_at: new Date(deps.now()),
      })),
    ),
  ])
  return { assigned_count: wanted.length }
}

/** What the audit log tells of the guardrails that these keys leave for another one. */
function leaving({ database: { sync } }: ChangeDeps, guardrailId: string, hashes: string[]): Change[] {
  const rows = sync
    .select({ guardrail: guardrails, hash: guardrailKeys.key_hash })
    .from(guardrailKeys)
    .innerJoin(guardrails, eq(guardrails.id, guardrailKeys.guardrail_id))
    .where(and(inArray(guardrailKeys.key_hash, hashes), ne(guardrailKeys.guardrail_id, guardrailId)))
    .orderBy(guardrailKeys.id)
    .all()
  return [...Map.groupBy(rows, ({ guardrail }) => guardrail.id)].map(([id, left]) => ({
    action: 'guardrail.unassign_keys',
    resourceId: id,
    workspaceId: left[0]?.guardrail.workspace_id ?? null,
    before: { key_hashes: left.map(({ hash }) => hash) },
  }))
}

/** Keys that are not assigned to it are passed over. */
export async function unassignKeys(
  deps: ChangeDeps,
  actor: Actor,
  guardrailId: string,
  keyHashes: readonly string[],
): Promise<{ unassigned_count: number }> {
  const guardrail = await findGuardrail(deps.database, guardrailId)
  const rows = await deps.database.db
    .select({ hash: guardrailKeys.key_hash })
    .from(guardrailKeys)
    .where(
      and(
        eq(guardrailKeys.guardrail_id, guardrail.id),
        inArray(guardrailKeys.key_hash, [...new Set(keyHashes)]),
      ),
    )
  const present = rows.map(({ hash }) => hash)
  if (present.length === 0) return { unassigned_count: 0 }
  const removed = {
    action: 'guardrail.unassign_keys',
    resourceId: guardrail.id,
    workspaceId: guardrail.workspace_id,
    before: { key_hashes: present },
  } as const
  await change(deps, actor, removed, (tx) => [
    tx.delete(guardrailKeys).where(inArray(guardrailKeys.key_hash, present)),
  ])
  return { unassigned_count: present.length }
}

async function requireKeys({ database }: ChangeDeps, hashes: string[], workspaceId: string): Promise<void> {
  const rows = await database.db
    .select({ hash: apiKeys.hash, workspace_id: apiKeys.workspace_id })
    .from(apiKeys)
    .where(and(inArray(apiKeys.hash, hashes), eq(apiKeys.kind, 'inference'), isNull(apiKeys.deleted_at)))
  const workspaceOf = new Map(rows.map((row) => [row.hash, row.workspace_id]))
  for (const hash of hashes) {
    const shown = JSON.stringify(hash)
    if (!workspaceOf.has(hash)) throw notFound(`key_hashes: there is no API key with the hash ${shown}`)
    if (workspaceOf.get(hash) === workspaceId) continue
    throw badRequest(`${shown} is a key of another workspace than the guardrail's`, 'key_hashes')
  }
}
