import type { Actor, IdempotencyClaim } from '../core/actor.ts'
import type { JsonObject } from '../core/events.ts'
import { newUuid } from '../core/ids.ts'
import type { Snapshot } from '../core/snapshot.ts'
import { atomically, type Database, type Db, type Write } from '../db/database.ts'
import { auditLog, idempotencyKeys, organizations } from '../db/tables.ts'

export interface ChangeDeps {
  database: Database
  snapshot: { current(): Snapshot; applyChanges(): void }
  /** Milliseconds since 1970. */
  now(): number
}

/** What a line of the audit log needs. */
type AuditDeps = Pick<ChangeDeps, 'database' | 'now'> & {
  snapshot: { current(): Pick<Snapshot, 'organizationId'>; applyChanges(): void }
}

/** One change of one thing, as the audit log tells it. Neither `before` nor `after` may hold a secret. */
export interface Change {
  /** `<resource>.<verb>`: `key.create`, `workspace.update`, `guardrail.delete`, … */
  action: `${string}.${string}`
  resourceId: string
  /** Null: of the whole organisation. */
  workspaceId: string | null
  /** Absent for what was just made. */
  before?: JsonObject
  /** Absent for what is gone. */
  after?: JsonObject
}

/**
 * The one way in which administration writes: the writes and their audit rows in one transaction, then a new Snapshot,
 * so that the next request already knows. All of it or nothing. `writes` runs inside the transaction: it may check with
 * `database.sync` what must not change in between, and what it throws undoes everything.
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
    ...writes(tx),
    ...rows.map((row) => tx.insert(auditLog).values(row)),
    ...claims.map((row) => tx.insert(idempotencyKeys).values(row).onConflictDoUpdate(renewed(row))),
  ])
  deps.snapshot.applyChanges()
}

/**
 * The same in the folder of a server that is stopped, at its command line: nobody's Snapshot is to be renewed. Before
 * the first start there is no organisation yet whose log could tell it.
 */
export async function changeAside(
  database: Database,
  command: string,
  changes: Change | readonly Change[],
  writes: (tx: Db) => readonly Write[],
): Promise<void> {
  const organization = database.sync.select({ id: organizations.id }).from(organizations).get()
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

/** An expired row of the same key gives way. */
const renewed = (row: ReturnType<typeof claimRow>) => ({
  target: [idempotencyKeys.caller_key_hash, idempotencyKeys.idempotency_key],
  set: row,
})

/** What differs between two views of one thing: for the `before` and `after` of an update. */
export function difference(before: JsonObject, after: JsonObject): { before: JsonObject; after: JsonObject } {
  const names = Object.keys(after).filter((name) => !Bun.deepEquals(before[name], after[name]))
  const only = (view: JsonObject): JsonObject =>
    Object.fromEntries(names.map((name) => [name, view[name] ?? null]))
  return { before: only(before), after: only(after) }
}

function rowOf(
  { snapshot, now }: AuditDeps,
  actor: Actor,
  { action, resourceId, workspaceId, before, after }: Change,
): typeof auditLog.$inferInsert {
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
