import { type Static, Type } from '@sinclair/typebox'
import { and, eq, inArray, isNull, not, type SQL, sql } from 'drizzle-orm'
import type { Actor } from '../../../core/actor.ts'
import type { Caller } from '../../../core/caller.ts'
import { badRequest, notFound } from '../../../core/errors.ts'
import { newUuid } from '../../../core/ids.ts'
import { labelOf } from '../../../core/keys.ts'
import { nearestNames } from '../../../core/nearest.ts'
import type { ProviderKind } from '../../../core/snapshot.ts'
import { selectRows } from '../../../db/columns.ts'
import type { Database } from '../../../db/database.ts'
import { newRow, storedOf, viewOf } from '../../../db/fields.ts'
import { byokPlace, type Sealer } from '../../../db/seal.ts'
import { apiKeys, type ByokRow, byokKey, byokKeys, users } from '../../../db/tables.ts'
import { inWorkspace } from '../../../http/schemas.ts'
import { readByokKey, vendorKindOf } from '../../../providers/byok.ts'
import { cloudVendors, vendors } from '../../../providers/compatible.ts'
import type { ChangeDeps } from '../../change.ts'
import { listing, listPage } from '../../list.ts'
import { createRow, deleteRow, findRow, updateRow } from '../../resource.ts'
import { workspaceOf } from '../../workspace-of.ts'

export interface ByokDeps extends ChangeDeps {
  sealer: Sealer
}

/** A complete service account of a cloud is the longest. */
const MOST_CHARACTERS = 16_384
const key = Type.String({
  minLength: 1,
  maxLength: MOST_CHARACTERS,
  description:
    "The provider's API key (Bedrock's may be the JSON of an access key, Vertex's the JSON of a service account). Sealed at once and never shown again.",
})
const closed = { additionalProperties: false }
export const createBody = Type.Object({ ...byokKey.create.properties, key }, closed)
export const updateBody = Type.Object({ ...byokKey.update.properties, key: Type.Optional(key) }, closed)
type UpdateBody = Static<typeof updateBody>
type ByokKey = Static<typeof byokKey.view>

/** Default order: the one in which they are tried. */
export const byokList = listing({
  rows: (db, where) => selectRows(db, byokKeys, where),
  sorts: [byokKeys.sort_order, byokKeys.created_at, byokKeys.provider],
  order: 'sort_order',
  key: byokKeys.id,
  searched: [byokKeys.name, byokKeys.provider, byokKeys.label],
  filters: {
    ...inWorkspace,
    provider: Type.Optional(
      Type.String({ maxLength: 256, description: 'Only keys of this provider, by slug.' }),
    ),
  },
})

const view = (row: ByokRow): ByokKey => viewOf(byokKey, row)

export function listByokKeys(deps: ByokDeps, caller: Caller, query: Static<typeof byokList.query>) {
  const where = and(
    eq(byokKeys.workspace_id, workspaceOf(caller, query.workspace_id, deps.snapshot.current())),
    query.provider === undefined ? undefined : eq(byokKeys.provider, query.provider),
  )
  return listPage(deps.database, byokList, query, where, view)
}

const find = (deps: ByokDeps, id: string): Promise<ByokRow> => findRow(deps, byokKey, id.toLowerCase())

export const getByokKey = async (deps: ByokDeps, id: string): Promise<ByokKey> => view(await find(deps, id))

/** Tried after the keys that the workspace already has. */
export async function createByokKey(
  deps: ByokDeps,
  caller: Caller,
  actor: Actor,
  body: Static<typeof createBody>,
): Promise<ByokKey> {
  const place = {
    id: newUuid(),
    workspace_id: workspaceOf(caller, body.workspace_id, deps.snapshot.current()),
  }
  const row = newRow(byokKey, body, {
    ...place,
    ...sealed(deps, { ...place, provider: body.provider }, body.key),
    sort_order: 0,
    created_at: new Date(deps.now()),
  })
  refuseContradiction(row)
  await requireAllowed(deps.database, row.workspace_id, body)
  await createRow(deps, actor, byokKey, row, {
    computed: { sort_order: nextOrder(row.workspace_id) },
  })
  return await getByokKey(deps, row.id)
}

const nextOrder = (workspaceId: string) =>
  sql<number>`(select coalesce(max(${byokKeys.sort_order}) + 1, 0) from ${byokKeys} where ${byokKeys.workspace_id} = ${workspaceId})`

/** The change holds for the next request. */
export async function updateByokKey(
  deps: ByokDeps,
  actor: Actor,
  id: string,
  { key, ...body }: UpdateBody,
): Promise<ByokKey> {
  const row = await find(deps, id)
  const columns = { ...storedOf(byokKey, body), ...(key === undefined ? {} : sealed(deps, row, key)) }
  refuseContradiction({ ...row, ...columns })
  await requireAllowed(deps.database, row.workspace_id, body)
  return view(
    await updateRow(deps, actor, byokKey, row, columns, {
      ...(key === undefined ? {} : { note: { key: 'replaced' } }),
      condition: compatibleWith(columns),
      refusal: contradiction,
    }),
  )
}

/** Holds unless another change set the flag that excludes one of these in the meantime. */
function compatibleWith({ is_fallback, is_byok_only }: Partial<ByokRow>): SQL | undefined {
  return and(
    is_fallback === true && is_byok_only === undefined ? not(byokKeys.is_byok_only) : undefined,
    is_byok_only === true && is_fallback === undefined ? not(byokKeys.is_fallback) : undefined,
  )
}

export const deleteByokKey = async (deps: ByokDeps, actor: Actor, id: string): Promise<void> =>
  deleteRow(deps, actor, byokKey, await find(deps, id))

/** A label shows six characters of the key, too many of a shorter one. */
const LEAST_SHOWN = 16

/** The sealed key and its label. Throws a 400 that names the problem without quoting the key. */
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

/** The ends of a key that is JSON identify nothing and may be part of a secret. */
function maskOf(text: string): string {
  if (text.startsWith('{')) return '{...}'
  return text.length < LEAST_SHOWN ? '...' : labelOf(text)
}

const NEAREST = 3
/** A longer text than any slug may be a key in the wrong place: it is not repeated. */
const LONGEST_SLUG = 32

/** How the provider is called: a configured provider, a vendor or a cloud. */
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
  if (is_fallback && is_byok_only) throw contradiction()
}

const contradiction = () =>
  badRequest(
    "is_fallback and is_byok_only exclude each other: a key that is tried after the gateway's own credentials cannot be used in their place",
    'is_byok_only',
  )

/** Keys of the workspace, and people of the organisation. */
async function requireAllowed(
  { db }: Database,
  workspaceId: string,
  { allowed_api_key_hashes: hashes, allowed_user_ids: userIds }: UpdateBody,
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
