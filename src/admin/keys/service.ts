import { and, count, desc, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { Actor } from '../../core/actor.ts'
import type { Caller } from '../../core/caller.ts'
import { badRequest, forbidden, notFound } from '../../core/errors.ts'
import { hashKey, labelOf, newKey } from '../../core/keys.ts'
import { nanoUsdOf } from '../../core/money.ts'
import type { Database } from '../../db/database.ts'
import { apiKeys, guardrailKeys, users } from '../../db/tables.ts'
import { utcInstant } from '../../http/instant.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { type ChangeDeps, change, difference } from '../change.ts'
import { rateLimitsOf } from '../rate-limits.ts'
import {
  type CreateKeyBody,
  type CurrentKey,
  type Key,
  type KeyRow,
  keyView,
  type ListKeysQuery,
  limitView,
  settingsView,
  type UpdateKeyBody,
  usageView,
} from './schema.ts'

export interface KeyDeps extends ChangeDeps {
  ledger: Pick<Ledger, 'usageOf'>
}

const DEFAULT_PAGE = 50

/** Makes an inference key. `key` is the secret itself: shown here and never again. */
export async function createKey(
  deps: KeyDeps,
  caller: Caller,
  actor: Actor,
  body: CreateKeyBody,
): Promise<{ data: Key; key: string }> {
  const workspaceId = body.workspace_id?.toLowerCase() ?? caller.workspace.id
  if (!deps.snapshot.current().workspacesById.has(workspaceId))
    throw notFound('There is no workspace with this id')
  const creatorUserId = body.creator_user_id ?? caller.key.creatorUserId
  await requireUser(deps.database, creatorUserId)
  const key = newKey('inference')
  const hash = hashKey(key)
  const expiresAt = expiryOf(body.expires_at, deps.now())
  const settings = {
    name: body.name,
    label: labelOf(key),
    disabled: false,
    limit_nano_usd: nanoUsdOrNull(body.limit),
    limit_reset: body.limit_reset ?? null,
    include_byok_in_limit: body.include_byok_in_limit ?? false,
    rate_limits: rateLimitsOf(body.rate_limits ?? null),
    expires_at: expiresAt,
    creator_user_id: creatorUserId,
    external_user: body.external?.user ?? null,
    workspace_id: workspaceId,
  }
  const made = { action: 'key.create', resourceId: hash, workspaceId, after: settingsView(settings) } as const
  await change(deps, actor, made, (tx) => [
    tx.insert(apiKeys).values({
      ...settings,
      hash,
      // One more than the largest so far, found inside the same statement: two creations at once never share it.
      id: sql<number>`(select coalesce(max(${apiKeys.id}), 0) + 1 from ${apiKeys})`,
      kind: 'inference',
      created_at: new Date(deps.now()),
    }),
  ])
  return { data: await viewOf(deps, await findKey(deps.database, hash)), key }
}

/** Newest first. */
export async function listKeys(
  deps: KeyDeps,
  caller: Caller,
  query: ListKeysQuery,
): Promise<{ data: Key[]; total_count: number }> {
  const workspaceId = query.workspace_id?.toLowerCase() ?? caller.workspace.id
  const listed = and(
    isInferenceKey(),
    eq(apiKeys.workspace_id, workspaceId),
    query.include_disabled === 'true' ? undefined : eq(apiKeys.disabled, false),
  )
  const { db } = deps.database
  const rows = await db
    .select()
    .from(apiKeys)
    .where(listed)
    .orderBy(desc(apiKeys.created_at), desc(apiKeys.id))
    .limit(Number(query.limit ?? DEFAULT_PAGE))
    .offset(Number(query.offset ?? 0))
  const [total] = await db.select({ keys: count() }).from(apiKeys).where(listed)
  const data = await Promise.all(rows.map((row) => viewOf(deps, row)))
  return { data, total_count: total?.keys ?? 0 }
}

export async function getKey(deps: KeyDeps, hash: string): Promise<Key> {
  return viewOf(deps, await findKey(deps.database, hash))
}

/** The change holds for the next request. */
export async function updateKey(
  deps: KeyDeps,
  actor: Actor,
  hash: string,
  body: UpdateKeyBody,
): Promise<Key> {
  const row = await findKey(deps.database, hash)
  if (Object.keys(body).length === 0) return viewOf(deps, row)
  const { limit, rate_limits: rates, ...others } = body
  const changes = {
    ...others,
    ...(limit === undefined ? {} : { limit_nano_usd: nanoUsdOrNull(limit) }),
    ...(rates === undefined ? {} : { rate_limits: rateLimitsOf(rates) }),
    updated_at: new Date(deps.now()),
  }
  const update = {
    action: 'key.update',
    resourceId: hash,
    workspaceId: row.workspace_id,
    ...difference(settingsView(row), settingsView({ ...row, ...changes })),
  } as const
  await change(deps, actor, update, (tx) => [tx.update(apiKeys).set(changes).where(eq(apiKeys.hash, hash))])
  return viewOf(deps, await findKey(deps.database, hash))
}

/** The key is refused from the next request on, and leaves its guardrail; its history stays. */
export async function deleteKey(deps: KeyDeps, actor: Actor, hash: string): Promise<void> {
  const row = await findKey(deps.database, hash)
  const deletedAt = new Date(deps.now())
  const gone = {
    action: 'key.delete',
    resourceId: hash,
    workspaceId: row.workspace_id,
    before: settingsView(row),
  } as const
  await change(deps, actor, gone, (tx) => [
    tx.update(apiKeys).set({ deleted_at: deletedAt }).where(eq(apiKeys.hash, hash)),
    tx.delete(guardrailKeys).where(eq(guardrailKeys.key_hash, hash)),
  ])
}

/** What a key may know of itself. Throws 403 for a person who has signed in. */
export async function currentKeyOf(deps: KeyDeps, { key, workspace, session }: Caller): Promise<CurrentKey> {
  if (session !== undefined) throw forbidden('This request has no key: you are signed in')
  const usage = await deps.ledger.usageOf(key.hash, deps.now())
  const limited = {
    limit_nano_usd: key.limitNanoUsd,
    limit_reset: key.limitReset,
    include_byok_in_limit: key.includeByokInLimit,
  }
  const isManagement = key.kind === 'management'
  return {
    label: key.label,
    ...limitView(limited, usage),
    ...usageView(usage),
    is_free_tier: false,
    is_management_key: isManagement,
    is_provisioning_key: isManagement,
    allowed_data_regions: ['global'],
    free_model_daily_requests: { limit: UNLIMITED, remaining: UNLIMITED, used: 0 },
    rate_limit: {
      interval: '10s',
      note: 'Kept for older clients; it says nothing of the limits that hold.',
      requests: UNLIMITED,
    },
    creator_user_id: key.creatorUserId,
    organization_id: deps.snapshot.current().organizationId,
    workspace_id: workspace.id,
    expires_at: key.expiresAt === null ? null : new Date(key.expiresAt).toISOString(),
  }
}

/** How the API's counts say that there is no bound. */
const UNLIMITED = -1

const viewOf = async (deps: KeyDeps, row: KeyRow): Promise<Key> =>
  keyView(row, await deps.ledger.usageOf(row.hash, deps.now()))

/** Management keys are made and withdrawn on the machine itself, never through the API that they open. */
const isInferenceKey = (): SQL | undefined => and(eq(apiKeys.kind, 'inference'), isNull(apiKeys.deleted_at))

async function findKey(database: Database, hash: string): Promise<KeyRow> {
  const [row] = await database.db
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.hash, hash), isInferenceKey()))
  if (row === undefined) throw notFound('There is no API key with this hash')
  return row
}

async function requireUser(database: Database, id: string): Promise<void> {
  const [row] = await database.db
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.id, id), isNull(users.deleted_at)))
  if (row === undefined) throw notFound('There is no member with the id in creator_user_id')
}

const nanoUsdOrNull = (usd: number | null | undefined): number | null =>
  usd === null || usd === undefined ? null : nanoUsdOf(usd)

const HAS_SECONDS = /:\d\d:\d\d/

/** Only `Z` is taken: an offset would hide in which day a key ends. Dates that do not exist are refused. */
function expiryOf(text: string | null | undefined, now: number): Date | null {
  if (text === null || text === undefined) return null
  const instant = HAS_SECONDS.test(text) ? utcInstant(text) : null
  if (instant === null) {
    throw badRequest(
      'must be a UTC date and time with seconds and Z, such as "2030-01-31T23:59:59Z"',
      'expires_at',
    )
  }
  if (instant.getTime() <= now) throw badRequest('must be in the future', 'expires_at')
  return instant
}
