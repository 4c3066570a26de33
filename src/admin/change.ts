import { and, eq, exists, isNull, lte, type SQL } from 'drizzle-orm'
import type { Actor, IdempotencyClaim } from '../core/actor.ts'
import { conflict, notFound } from '../core/errors.ts'
import type { JsonObject } from '../core/events.ts'
import { newUuid } from '../core/ids.ts'
import type { Snapshot } from '../core/snapshot.ts'
import { selectRows } from '../db/columns.ts'
import { atomically, type Database, type Db, mustChange, requireThat, type Write } from '../db/database.ts'
import { auditLog, idempotencyKeys, organizations, workspaces } from '../db/tables.ts'

export interface ChangeDeps {
  database: Database
  snapshot: { current(): Snapshot; applyChanges(): void }
  /** Milliseconds since 1970. */
  now(): number
}

type AuditDeps = Pick<ChangeDeps, 'database' | 'now'> & {
  snapshot: { current(): Pick<Snapshot, 'organizationId'>; applyChanges(): void }
}

/** One change of one thing, as the audit log records it. Neither `before` nor `after` may hold a secret. */
export interface Change {
  /** `<resource>.<verb>`: `key.create`, `workspace.update`, `guardrail.delete`, … */
  action: `${string}.${string}`
  resourceId: string
  /** Null: of the organisation. */
  workspaceId: string | null
  /** Absent for a creation. */
  before?: JsonObject
  /** Absent for a deletion. */
  after?: JsonObject
}

/**
 * The one way in which administration writes: the writes and their audit rows in one transaction, then a new Snapshot,
 * so that the next request already sees them. All of it or nothing. Checks that must hold until the commit are
 * conditions of the writes: `mustChange`, `requireThat`, unique indexes.
 */
export async function change(
  deps: AuditDeps,
  actor: Actor,
  changes: Change | readonly Change[],
  writes: (tx: Db) => readonly Write[],
): Promise<void> {
  const rows = [changes].flat().map((each) => rowOf(deps, actor, each))
  const claims = actor.claim === undefined ? [] : [claimRow(actor.claim, deps.now())]
  await atomically(deps.database, (tx) => [
    ...rows.flatMap((row) => requireWorkspace(tx, row)),
    ...writes(tx),
    ...rows.map((row) => tx.insert(auditLog).values(row)),
    ...claims.map((row) => claimWrite(tx, row)),
  ])
  deps.snapshot.applyChanges()
}

/** The checks that the workspace of a change was not deleted after it was read. */
const requireWorkspace = (tx: Db, { action, workspace_id: id }: AuditRow): Write[] =>
  id === null || action === 'workspace.create'
    ? []
    : [requireThat(tx, workspaceExists(tx, id), () => notFound('There is no workspace with this id'))]

/** The condition that this workspace has not been deleted. */
export const workspaceExists = (tx: Db, id: string): SQL =>
  exists(selectRows(tx, workspaces, and(eq(workspaces.id, id), isNull(workspaces.deleted_at))))

/**
 * The same for commands on the folder of a stopped server, where there is no Snapshot. Before the first start there is
 * no organisation, and no audit log.
 */
export async function changeAside(
  database: Database,
  command: string,
  changes: Change | readonly Change[],
  writes: (tx: Db) => readonly Write[],
): Promise<void> {
  const [organization] = await database.db.select({ id: organizations.id }).from(organizations)
  if (organization === undefined) {
    await atomically(database, writes)
    return
  }
  const snapshot = { current: () => ({ organizationId: organization.id }), applyChanges: () => undefined }
  await change({ database, now: Date.now, snapshot }, { ...COMMAND_LINE, label: command }, changes, writes)
}

const COMMAND_LINE = {
  type: 'system',
  id: 'command-line',
  userId: '',
  requestId: null,
  address: null,
  userAgent: null,
} as const

const claimRow = (claim: IdempotencyClaim, now: number) => ({
  caller_key_hash: claim.callerId,
  idempotency_key: claim.key,
  fingerprint: claim.fingerprint,
  status: null,
  sealed_answer: null,
  created_at: new Date(now),
})

/** How long an `Idempotency-Key` is remembered. */
export const CLAIM_LIFETIME_MS = 24 * 3600 * 1000

/** Replaces an expired row of the same key. A row that is not expired is of another process at the same time: 409. */
const claimWrite = (tx: Db, row: ReturnType<typeof claimRow>): Write => {
  const expired = new Date(row.created_at.getTime() - CLAIM_LIFETIME_MS)
  return mustChange(
    tx
      .insert(idempotencyKeys)
      .values(row)
      .onConflictDoUpdate({
        target: [idempotencyKeys.caller_key_hash, idempotencyKeys.idempotency_key],
        set: row,
        setWhere: lte(idempotencyKeys.created_at, expired),
      }),
    () => conflict('header Idempotency-Key: a request with this key is running; send it again later'),
  )
}

/** The differences between two views of one thing: the `before` and `after` of an update. */
export function difference(before: JsonObject, after: JsonObject): { before: JsonObject; after: JsonObject } {
  const names = Object.keys(after).filter((name) => !Bun.deepEquals(before[name], after[name]))
  const only = (view: JsonObject): JsonObject =>
    Object.fromEntries(names.map((name) => [name, view[name] ?? null]))
  return { before: only(before), after: only(after) }
}

type AuditRow = typeof auditLog.$inferSelect

function rowOf(
  { snapshot, now }: AuditDeps,
  actor: Actor,
  { action, resourceId, workspaceId, before, after }: Change,
): AuditRow {
  return {
    id: newUuid(),
    created_at: new Date(now()),
    organization_id: snapshot.current().organizationId,
    workspace_id: workspaceId,
    actor_type: actor.type,
    actor_id: actor.id,
    actor_label: actor.label,
    action,
    resource_type: action.slice(0, action.indexOf('.')),
    resource_id: resourceId,
    request_id: actor.requestId,
    address: actor.address,
    user_agent: actor.userAgent,
    before: before ?? null,
    after: after ?? null,
  }
}
