import { type Static, Type } from '@sinclair/typebox'
import { and, eq, exists, isNull, type SQL, sql } from 'drizzle-orm'
import type { Actor } from '../../../core/actor.ts'
import type { Caller } from '../../../core/caller.ts'
import { badRequest, forbidden, notFound } from '../../../core/errors.ts'
import { hashKey, labelOf, newKey } from '../../../core/keys.ts'
import { selectRows } from '../../../db/columns.ts'
import { type Db, requireThat } from '../../../db/database.ts'
import { newRow, storedOf } from '../../../db/fields.ts'
import { apiKey, apiKeys, guardrailKeys, type KeyRow, users } from '../../../db/tables.ts'
import { utcInstant } from '../../../http/instant.ts'
import { inWorkspace, queryBoolean } from '../../../http/schemas.ts'
import type { Ledger } from '../../../ledger/ledger.ts'
import type { ChangeDeps } from '../../change.ts'
import { listing, listPage } from '../../list.ts'
import { createRow, deleteRow, findRow, updateRow } from '../../resource.ts'
import { type CurrentKey, type Key, keyView, limitView, usageView } from './usage.ts'

export interface KeyDeps extends ChangeDeps {
  ledger: Pick<Ledger, 'usageOf'>
}

export const createBody = Type.Object(
  {
    ...apiKey.create.properties,
    external: Type.Optional(
      Type.Object({ user: Type.String({ minLength: 1, maxLength: 256 }) }, { additionalProperties: false }),
    ),
  },
  { additionalProperties: false },
)

/** Creates an inference key. `key` is the secret itself: shown here and never again. */
export async function createKey(
  deps: KeyDeps,
  caller: Caller,
  actor: Actor,
  body: Static<typeof createBody>,
): Promise<{ data: Key; key: string }> {
  const workspaceId = body.workspace_id?.toLowerCase() ?? caller.workspace.id
  if (!deps.snapshot.current().workspacesById.has(workspaceId))
    throw notFound('There is no workspace with this id')
  const creatorUserId = body.creator_user_id ?? caller.key.creatorUserId
  const key = newKey('inference')
  const row = newRow(apiKey, body, {
    hash: hashKey(key),
    id: 0,
    kind: 'inference',
    label: labelOf(key),
    expires_at: expiryOf(body.expires_at, deps.now()),
    creator_user_id: creatorUserId,
    external_user: body.external?.user ?? null,
    workspace_id: workspaceId,
    created_at: new Date(deps.now()),
  })
  // Computed by the insert itself, so that two at once get two ids.
  const id = sql<number>`(select coalesce(max(${apiKeys.id}), 0) + 1 from ${apiKeys})`
  await createRow(deps, actor, apiKey, row, {
    computed: { id },
    checks: (tx) => [
      requireThat(tx, isMember(tx, creatorUserId), () =>
        notFound('There is no member with the id in creator_user_id'),
      ),
    ],
  })
  return { data: await getKey(deps, row.hash), key }
}

/** Default order: newest first. */
export const keyList = listing({
  rows: (db, where) => selectRows(db, apiKeys, where),
  sorts: [apiKeys.created_at, apiKeys.name],
  order: '-created_at',
  key: apiKeys.id,
  searched: [apiKeys.name, apiKeys.label, apiKeys.external_user],
  filters: {
    ...inWorkspace,
    include_disabled: queryBoolean('Whether disabled keys are listed too; default false.'),
  },
})

export function listKeys(deps: KeyDeps, caller: Caller, query: Static<typeof keyList.query>) {
  const listed = and(
    isInferenceKey(),
    eq(apiKeys.workspace_id, query.workspace_id?.toLowerCase() ?? caller.workspace.id),
    query.include_disabled === 'true' ? undefined : eq(apiKeys.disabled, false),
  )
  return listPage(deps.database, keyList, query, listed, (row) => viewWithUsage(deps, row))
}

export const getKey = async (deps: KeyDeps, hash: string): Promise<Key> =>
  viewWithUsage(deps, await findKey(deps, hash))

/** The change holds for the next request. */
export async function updateKey(
  deps: KeyDeps,
  actor: Actor,
  hash: string,
  body: Static<typeof apiKey.update>,
): Promise<Key> {
  const row = await findKey(deps, hash)
  return viewWithUsage(deps, await updateRow(deps, actor, apiKey, row, storedOf(apiKey, body)))
}

/** The key is rejected from the next request on, and leaves its guardrail; its history stays. */
export async function deleteKey(deps: KeyDeps, actor: Actor, hash: string): Promise<void> {
  await deleteRow(deps, actor, apiKey, await findKey(deps, hash), (tx) => [
    tx
      .update(apiKeys)
      .set({ deleted_at: new Date(deps.now()) })
      .where(eq(apiKeys.hash, hash)),
    tx.delete(guardrailKeys).where(eq(guardrailKeys.key_hash, hash)),
  ])
}

/** What a key can see of itself. Throws 403 for a dashboard session. */
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
      note: 'For older clients; it does not describe the limits in force.',
      requests: UNLIMITED,
    },
    creator_user_id: key.creatorUserId,
    organization_id: deps.snapshot.current().organizationId,
    workspace_id: workspace.id,
    expires_at: key.expiresAt === null ? null : new Date(key.expiresAt).toISOString(),
  }
}

/** The API's count for "no limit". */
const UNLIMITED = -1

const viewWithUsage = async (deps: KeyDeps, row: KeyRow): Promise<Key> =>
  keyView(row, await deps.ledger.usageOf(row.hash, deps.now()))

/** Management keys are created and revoked on the machine itself, never through the API. */
const isInferenceKey = (): SQL | undefined => and(eq(apiKeys.kind, 'inference'), isNull(apiKeys.deleted_at))

const findKey = (deps: KeyDeps, hash: string): Promise<KeyRow> =>
  findRow(deps, apiKey, hash, isInferenceKey())

const isMember = (db: Db, id: string): SQL =>
  exists(selectRows(db, users, and(eq(users.id, id), isNull(users.deleted_at))))

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
