import { and, asc, count, eq, inArray, isNull, max } from 'drizzle-orm'
import { nearestNames } from '../../catalog/nearest.ts'
import type { Actor } from '../../core/actor.ts'
import type { Caller } from '../../core/caller.ts'
import { badRequest, notFound } from '../../core/errors.ts'
import { newUuid } from '../../core/ids.ts'
import { labelOf } from '../../core/keys.ts'
import type { ProviderKind } from '../../core/snapshot.ts'
import type { Database } from '../../db/database.ts'
import { byokPlace, type Sealer } from '../../db/seal.ts'
import { apiKeys, byokKeys, users } from '../../db/tables.ts'
import { pageOf } from '../../http/schemas.ts'
import { readByokKey, vendorKindOf } from '../../providers/byok.ts'
import { cloudVendors, vendors } from '../../providers/compatible.ts'
import { type ChangeDeps, change, difference } from '../change.ts'
import { workspaceOf } from '../workspace-of.ts'
import {
  type ByokKey,
  type ByokRow,
  byokSettings,
  byokView,
  type CreateByokBody,
  type ListByokQuery,
  type UpdateByokBody,
} from './schema.ts'

export interface ByokDeps extends ChangeDeps {
  sealer: Sealer
}

/** Those of one workspace, in the order in which they are tried. */
export async function listByokKeys(
  { database: { db }, snapshot }: ByokDeps,
  caller: Caller,
  query: ListByokQuery,
): Promise<{ data: ByokKey[]; total_count: number }> {
  const workspaceId = workspaceOf(caller, query.workspace_id, snapshot.current())
  const ofProvider = query.provider === undefined ? undefined : eq(byokKeys.provider, query.provider)
  const listed = and(eq(byokKeys.workspace_id, workspaceId), ofProvider)
  const { limit, offset } = pageOf(query)
  const rows = await db
    .select()
    .from(byokKeys)
    .where(listed)
    .orderBy(asc(byokKeys.sort_order), asc(byokKeys.id))
    .limit(limit)
    .offset(offset)
  const [total] = await db.select({ keys: count() }).from(byokKeys).where(listed)
  return { data: rows.map(byokView), total_count: total?.keys ?? 0 }
}

export const getByokKey = async ({ database }: ByokDeps, id: string): Promise<ByokKey> =>
  byokView(await findByokKey(database, id))

/** Tried after those that the workspace has. */
export async function createByokKey(
  deps: ByokDeps,
  caller: Caller,
  actor: Actor,
  { workspace_id, key, ...body }: CreateByokBody,
): Promise<ByokKey> {
  const workspaceId = workspaceOf(caller, workspace_id, deps.snapshot.current())
  const id = newUuid()
  const row: ByokRow = {
    ...DEFAULTS,
    ...body,
    ...sealed(deps, { id, workspace_id: workspaceId, provider: body.provider }, key),
    id,
    workspace_id: workspaceId,
    sort_order: 0,
    created_at: new Date(deps.now()),
    updated_at: null,
  }
  refuseContradiction(row)
  await requireAllowed(deps.database, workspaceId, body)
  const made = { action: 'byok.create', resourceId: id, workspaceId, after: byokSettings(row) } as const
  await change(deps, actor, made, (tx) => {
    row.sort_order = nextOrder(deps.database, workspaceId)
    return [tx.insert(byokKeys).values(row)]
  })
  return byokView(row)
}

/** The change holds for the next request. */
export async function updateByokKey(
  deps: ByokDeps,
  actor: Actor,
  id: string,
  { key, ...body }: UpdateByokBody,
): Promise<ByokKey> {
  const row = await findByokKey(deps.database, id)
  if (key === undefined && Object.keys(body).length === 0) return byokView(row)
  const columns = {
    ...body,
    ...(key === undefined ? {} : sealed(deps, row, key)),
    updated_at: new Date(deps.now()),
  }
  const changed: ByokRow = { ...row, ...columns }
  refuseContradiction(changed)
  await requireAllowed(deps.database, row.workspace_id, body)
  const { before, after } = difference(byokSettings(row), byokSettings(changed))
  const update = {
    action: 'byok.update',
    resourceId: row.id,
    workspaceId: row.workspace_id,
    before,
    after: key === undefined ? after : { ...after, key: 'replaced' },
  } as const
  await change(deps, actor, update, (tx) => {
    const present = deps.database.sync.select().from(byokKeys).where(eq(byokKeys.id, row.id)).get()
    if (present === undefined) throw missing()
    refuseContradiction({ ...present, ...columns })
    return [tx.update(byokKeys).set(columns).where(eq(byokKeys.id, row.id))]
  })
  return byokView(changed)
}

export async function deleteByokKey(deps: ByokDeps, actor: Actor, id: string): Promise<void> {
  const row = await findByokKey(deps.database, id)
  const gone = {
    action: 'byok.delete',
    resourceId: row.id,
    workspaceId: row.workspace_id,
    before: byokSettings(row),
  } as const
  await change(deps, actor, gone, (tx) => [tx.delete(byokKeys).where(eq(byokKeys.id, row.id))])
}

const DEFAULTS = {
  name: null,
  disabled: false,
  is_fallback: false,
  is_required: false,
  is_byok_only: false,
  declared_zdr: null,
  allowed_api_key_hashes: null,
  allowed_models: null,
  allowed_user_ids: null,
} as const

const missing = () => notFound('There is no provider key with this id')

async function findByokKey({ db }: Database, id: string): Promise<ByokRow> {
  const [row] = await db.select().from(byokKeys).where(eq(byokKeys.id, id.toLowerCase()))
  if (row === undefined) throw missing()
  return row
}

/** A label shows six characters of the key: of a short one that would be too much. */
const LEAST_SHOWN = 16

/** The sealed key and what may be seen of it. Throws what is wrong with it; never quotes it. */
function sealed(
  deps: ByokDeps,
  { id, workspace_id, provider }: Pick<ByokRow, 'id' | 'workspace_id' | 'provider'>,
  key: string,
): Pick<ByokRow, 'sealed_key' | 'label'> {
  const text = key.trim()
  const read = readByokKey(kindOf(deps.snapshot, provider), id, text)
  if ('problem' in read) throw badRequest(read.problem, 'key')
  return {
    sealed_key: deps.sealer.seal(text, byokPlace({ id, workspace_id, provider })),
    label: maskOf(text),
  }
}

/** Of a key that is JSON the ends say nothing, and may be a part of what is secret. */
function maskOf(text: string): string {
  if (text.startsWith('{')) return '{...}'
  return text.length < LEAST_SHOWN ? '...' : labelOf(text)
}

const NEAREST = 3
/** What is longer than any slug may be a key in the wrong place, and is not repeated. */
const LONGEST_SLUG = 32

/** Which code calls the provider: one that is configured, a vendor or a cloud. */
function kindOf(snapshot: ByokDeps['snapshot'], slug: string): ProviderKind {
  const { providersBySlug } = snapshot.current()
  const kind = providersBySlug.get(slug)?.kind ?? vendorKindOf(slug)
  if (kind !== undefined) return kind
  const slugs = new Set([...providersBySlug.keys(), ...[...vendors, ...cloudVendors].map((one) => one.slug)])
  const nearest = slug.length > LONGEST_SLUG ? [] : nearestNames(slug.toLowerCase(), slugs, NEAREST)
  const hint = nearest.length > 0 ? `: did you mean ${nearest.join(' or ')}?` : ', such as openai'
  throw badRequest(`must be the slug of a vendor or of a configured provider${hint}`, 'provider')
}

function refuseContradiction({ is_fallback, is_byok_only }: ByokRow): void {
  if (!is_fallback || !is_byok_only) return
  throw badRequest(
    "is_fallback and is_byok_only exclude each other: a key that is tried after the gateway's own credentials cannot be used in their place",
    'is_byok_only',
  )
}

/** Keys of the workspace, and people of the organisation. */
async function requireAllowed(
  { db }: Database,
  workspaceId: string,
  { allowed_api_key_hashes: hashes, allowed_user_ids: userIds }: UpdateByokBody,
): Promise<void> {
  if (hashes) {
    const isKnown = and(
      inArray(apiKeys.hash, hashes),
      eq(apiKeys.workspace_id, workspaceId),
      eq(apiKeys.kind, 'inference'),
      isNull(apiKeys.deleted_at),
    )
    const rows = await db.select({ id: apiKeys.hash }).from(apiKeys).where(isKnown)
    refuseUnknown(hashes, rows, (at) => `allowed_api_key_hashes[${at}]: this workspace has no such API key`)
  }
  if (userIds) {
    const isKnown = and(inArray(users.id, userIds), isNull(users.deleted_at))
    const rows = await db.select({ id: users.id }).from(users).where(isKnown)
    refuseUnknown(userIds, rows, (at) => `allowed_user_ids[${at}]: there is no such user`)
  }
}

function refuseUnknown(
  wanted: readonly string[],
  known: readonly { id: string }[],
  say: (index: number) => string,
): void {
  const ids = new Set(known.map(({ id }) => id))
  const unknown = wanted.findIndex((id) => !ids.has(id))
  if (unknown !== -1) throw notFound(say(unknown))
}

function nextOrder({ sync }: Database, workspaceId: string): number {
  const last = sync
    .select({ order: max(byokKeys.sort_order) })
    .from(byokKeys)
    .where(eq(byokKeys.workspace_id, workspaceId))
    .get()
  return last?.order === null || last === undefined ? 0 : last.order + 1
}
