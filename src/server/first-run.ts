import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { and, eq, isNull, max, type SQL } from 'drizzle-orm'
import { changeAside } from '../admin/change.ts'
import { ownerOf } from '../admin/identity/auth/setup.ts'
import { ensureOwner, type OwnerSettings } from '../admin/identity/organization/owner.ts'
import { defaultGuardrail } from '../admin/resources/guardrails/default.ts'
import { newOrganizationId, newUserId, newUuid } from '../core/ids.ts'
import { hashKey, type KeyKind, labelOf, newKey } from '../core/keys.ts'
import { atomically, DATABASE_FILE, type Database, openForReading } from '../db/database.ts'
import { apiKeys, guardrails, organizations, users, workspaceMembers, workspaces } from '../db/tables.ts'

export interface BootstrapKeys extends OwnerSettings {
  /** The keys in the settings; null: created on the first run. */
  managementKey: string | null
  apiKey: string | null
}

/** New keys in plain text: printed once, never stored. */
export interface MadeKeys {
  managementKey: string | null
  apiKey: string | null
}

interface Owner {
  userId: string
  workspaceId: string
}

/**
 * Whether an earlier start created keys, so that the settings need not name any. Bootstrap keys do not count: they are
 * valid only while the settings name them.
 */
export const hasKeys = (database: Database): Promise<boolean> =>
  hasKey(database, isNull(apiKeys.deleted_at), eq(apiKeys.bootstrap, false))

/**
 * `hasKeys` for a folder that is not open yet, so that a start can fail before anything is created or migrated. True if
 * the folder cannot be read: the start checks again.
 */
export async function mayHaveKeys(folder: string): Promise<boolean> {
  const file = join(folder, DATABASE_FILE)
  if (!existsSync(file)) return false
  try {
    const database = openForReading(file)
    try {
      return await hasKeys(database)
    } finally {
      database.close()
    }
  } catch {
    return true
  }
}

/** Creates organisation, owner and default workspace if they are missing, and ensures the keys of the settings. */
export async function ensureFirstRun(database: Database, keys: BootstrapKeys): Promise<void> {
  if ((await database.db.select().from(organizations)).length === 0) await makeOwner(database)
  await completeWorkspaces(database)
  const owner = await keyOwnerOf(database)
  await ensureBootstrapKey(database, owner, 'management', keys.managementKey)
  await ensureBootstrapKey(database, owner, 'inference', keys.apiKey)
  await ensureOwner(database, keys, Date.now())
}

/**
 * Creates a key of each kind that never existed, and returns them in plain text; null if it created none. Called just
 * before they are printed, so that a failed start never loses them.
 */
export async function makeFirstKeys(database: Database): Promise<MadeKeys | null> {
  const owner = await keyOwnerOf(database)
  const managementKey = await makeFirstKey(database, owner, 'management', 'First management key')
  const apiKey = await makeFirstKey(database, owner, 'inference', 'First key')
  return managementKey === null && apiKey === null ? null : { managementKey, apiKey }
}

/**
 * Whether any management key is enabled. None is if the settings named one at the first start and no longer do: it was
 * never stored in clear, and no later start creates another.
 */
export const hasManagementKey = (database: Database): Promise<boolean> =>
  hasKey(database, eq(apiKeys.kind, 'management'), eq(apiKeys.disabled, false), isNull(apiKeys.deleted_at))

async function hasKey({ db }: Database, ...conditions: SQL[]): Promise<boolean> {
  const some = await db
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(and(...conditions))
    .limit(1)
  return some.length > 0
}

/**
 * Creates a management key, returned in clear, and disables every other created one, whose labels are returned. Only for
 * the folder of a stopped server: a running one does not see the change.
 */
export async function renewManagementKey(database: Database): Promise<{ key: string; disabled: string[] }> {
  const made = and(
    eq(apiKeys.kind, 'management'),
    eq(apiKeys.bootstrap, false),
    eq(apiKeys.disabled, false),
    isNull(apiKeys.deleted_at),
  )
  const earlier = await database.db.select().from(apiKeys).where(made)
  const key = newKey('management')
  const row = await rowOf(database, await keyOwnerOf(database), 'management', key, 'Management key', false)
  const { label, workspace_id: workspaceId } = row
  const changes = [
    {
      action: 'key.create',
      resourceId: row.hash,
      workspaceId,
      after: { kind: 'management', label },
    } as const,
    ...earlier.map(
      ({ hash }) =>
        ({
          action: 'key.update',
          resourceId: hash,
          workspaceId,
          before: { disabled: false },
          after: { disabled: true },
        }) as const,
    ),
  ]
  await changeAside(database, 'sluice keys renew-management', changes, (tx) => [
    tx.update(apiKeys).set({ disabled: true }).where(made),
    tx.insert(apiKeys).values(row),
  ])
  return { key, disabled: earlier.map(({ label }) => label) }
}

async function makeFirstKey(
  database: Database,
  owner: Owner,
  kind: KeyKind,
  name: string,
): Promise<string | null> {
  if (await hasKey(database, eq(apiKeys.kind, kind))) return null
  const key = newKey(kind)
  await insertKey(database, owner, kind, key, name, false)
  return key
}

async function makeOwner(database: Database): Promise<void> {
  const organizationId = newOrganizationId()
  const userId = newUserId()
  await atomically(database, (tx) => [
    tx.insert(organizations).values({ id: organizationId, name: 'My organisation' }),
    tx.insert(users).values({ id: userId, organization_id: organizationId, name: 'Owner', role: 'admin' }),
    tx.insert(workspaces).values({
      is_observability_broadcast_enabled: true,
      id: newUuid(),
      organization_id: organizationId,
      name: 'Default',
      slug: 'default',
      default_guardrail_id: newUuid(),
      created_by: userId,
    }),
  ])
}

/** Upgrades workspaces of earlier versions: adds a guardrail, the creator as a member, and the default flag. */
async function completeWorkspaces(database: Database): Promise<void> {
  const { db } = database
  const rows = await db.select().from(workspaces).where(isNull(workspaces.deleted_at))
  const guarded = new Set((await db.select({ id: guardrails.id }).from(guardrails)).map(({ id }) => id))
  const bare = rows.filter((row) => !guarded.has(row.default_guardrail_id))
  const first = rows.find(({ slug }) => slug === 'default') ?? rows[0]
  await atomically(database, (tx) => [
    ...bare.map((row) => tx.insert(guardrails).values(defaultGuardrail(row))),
    ...bare.map((row) =>
      tx
        .insert(workspaceMembers)
        .values({ id: newUuid(), workspace_id: row.id, user_id: row.created_by, created_at: row.created_at })
        .onConflictDoNothing(),
    ),
    ...(first === undefined
      ? []
      : [
          tx
            .update(organizations)
            .set({ default_workspace_id: first.id })
            .where(isNull(organizations.default_workspace_id)),
        ]),
  ])
}

/** The owner of the organisation, and the workspace of its keys. */
async function keyOwnerOf(database: Database): Promise<Owner> {
  const [organization] = await database.db.select().from(organizations)
  const workspaceId = organization?.default_workspace_id
  if (!workspaceId) throw new Error('the database has no default workspace')
  return { userId: (await ownerOf(database)).id, workspaceId }
}

/**
 * Makes the key of a setting unlimited and enabled at every start, in the default workspace if its own was deleted.
 * Disables a key that the setting no longer names.
 */
async function ensureBootstrapKey(
  database: Database,
  owner: Owner,
  kind: KeyKind,
  key: string | null,
): Promise<void> {
  const hash = key === null ? null : hashKey(key)
  const rows = await database.db.select().from(apiKeys).where(eq(apiKeys.bootstrap, true))
  const stale = rows.filter((row) => row.kind === kind && row.hash !== hash && !row.disabled)
  for (const row of stale) {
    await atomically(database, (tx) => [
      tx.update(apiKeys).set({ disabled: true }).where(eq(apiKeys.hash, row.hash)),
    ])
  }
  if (key === null || hash === null) return
  const [known] = await database.db.select().from(apiKeys).where(eq(apiKeys.hash, hash))
  if (known === undefined) {
    const name = kind === 'management' ? 'SLUICE_MANAGEMENT_KEY' : 'SLUICE_API_KEY'
    return insertKey(database, owner, kind, key, name, true)
  }
  const isMoved = await isGone(database, known.workspace_id)
  await atomically(database, (tx) => [
    tx
      .update(apiKeys)
      .set({
        kind,
        disabled: false,
        limit_nano_usd: null,
        limit_reset: null,
        rate_limits: null,
        expires_at: null,
        deleted_at: null,
        bootstrap: true,
        ...(isMoved ? { workspace_id: owner.workspaceId } : {}),
      })
      .where(eq(apiKeys.hash, hash)),
  ])
}

async function isGone({ db }: Database, workspaceId: string): Promise<boolean> {
  const found = await db
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(and(eq(workspaces.id, workspaceId), isNull(workspaces.deleted_at)))
  return found.length === 0
}

async function insertKey(
  database: Database,
  owner: Owner,
  kind: KeyKind,
  key: string,
  name: string,
  bootstrap: boolean,
): Promise<void> {
  const row = await rowOf(database, owner, kind, key, name, bootstrap)
  await atomically(database, (tx) => [tx.insert(apiKeys).values(row)])
}

async function rowOf(
  { db }: Database,
  { userId, workspaceId }: Owner,
  kind: KeyKind,
  key: string,
  name: string,
  bootstrap: boolean,
): Promise<typeof apiKeys.$inferInsert> {
  const [last] = await db.select({ id: max(apiKeys.id) }).from(apiKeys)
  return {
    hash: hashKey(key),
    id: (last?.id ?? 0) + 1,
    kind,
    name,
    label: labelOf(key),
    creator_user_id: userId,
    workspace_id: workspaceId,
    bootstrap,
  }
}
