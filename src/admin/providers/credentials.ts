import { asc, eq } from 'drizzle-orm'
import type { Actor } from '../../core/actor.ts'
import { badRequest, notFound } from '../../core/errors.ts'
import { newUuid } from '../../core/ids.ts'
import type { Db, Write } from '../../db/database.ts'
import { providerCredentials, providerEntries } from '../../db/tables.ts'
import { change, difference } from '../change.ts'
import type { ProviderDeps } from './deps.ts'
import {
  type CreateCredentialBody,
  type CredentialRow,
  type CredentialView,
  credentialSettings,
  credentialView,
  type ListCredentialsQuery,
  type UpdateCredentialBody,
} from './schema.ts'
import {
  checkCredential,
  checkSecret,
  credentialLabel,
  nextSortOrder,
  placeOf,
  refuseConflict,
  refuseTwin,
} from './service.ts'
import { openEntry } from './stored.ts'

/** Provider by provider, those of one in the order in which they are tried. */
export async function listStoredCredentials(
  deps: ProviderDeps,
  { provider }: ListCredentialsQuery,
): Promise<CredentialView[]> {
  const rows = await deps.database.db
    .select()
    .from(providerCredentials)
    .where(provider === undefined ? undefined : eq(providerCredentials.provider, provider))
    .orderBy(
      asc(providerCredentials.provider),
      asc(providerCredentials.sort_order),
      asc(providerCredentials.id),
    )
  return rows.map((row) => viewOf(deps, row))
}

/** Of a vendor, or of a stored entry: then it goes to the entry's address. Used for the next request. */
export async function createCredential(
  deps: ProviderDeps,
  actor: Actor,
  body: CreateCredentialBody,
): Promise<CredentialView> {
  const { provider, secret, name, baseUrl, check } = await readCredential(deps, body)
  const row = { id: newUuid(), provider, base_url: baseUrl }
  const label = credentialLabel(secret)
  const after = { provider, name, label, base_url: baseUrl, weight: body.weight ?? null }
  const made = { action: 'credential.create', resourceId: row.id, workspaceId: null, after } as const
  await change(deps, actor, made, (tx) => [
    check(tx),
    tx.insert(providerCredentials).values({
      ...row,
      name,
      label,
      sealed_secret: deps.sealer.seal(secret, placeOf(row)),
      disabled: body.disabled ?? false,
      weight: body.weight ?? null,
      sort_order: body.sort_order ?? nextSortOrder(provider),
      created_at: new Date(deps.now()),
    }),
  ])
  deps.providers.reload()
  return viewOf(deps, await findCredential(deps, row.id))
}

interface NewCredential {
  readonly provider: string
  readonly secret: string
  readonly name: string
  readonly baseUrl: string | null
  /** Part of the transaction that stores it. */
  readonly check: (tx: Db) => Write
}

async function readCredential(deps: ProviderDeps, body: CreateCredentialBody): Promise<NewCredential> {
  const isIt = eq(providerEntries.slug, body.provider)
  const [row] = await deps.database.db.select().from(providerEntries).where(isIt)
  if (row === undefined) {
    const { credential: secret, base_url: baseUrl } = body
    const fields = { provider: body.provider, secret, name: body.name, baseUrl }
    const checked = checkCredential(fields)
    const check = await refuseConflict(deps, checked.vendor, checked.secret, checked.baseUrl)
    return { ...checked, provider: checked.vendor.slug, check }
  }
  if (body.base_url !== undefined) {
    throw badRequest('a credential of an entry goes to the address of the entry', 'base_url')
  }
  const entry = openEntry(row, deps.sealer)
  const cloud = ['aws', 'azure', 'vertex'].find((block) => entry[block] !== undefined)
  if (cloud !== undefined) {
    throw badRequest(`the entry has a block "${cloud}", which holds its credential`, 'provider')
  }
  const secret = checkSecret(body.credential)
  const check = await refuseTwin(deps, row.slug, secret)
  return { provider: row.slug, secret, name: body.name?.trim() || row.slug, baseUrl: null, check }
}

/** Used for the next request. A new secret goes where the old one went. */
export async function updateCredential(
  deps: ProviderDeps,
  actor: Actor,
  id: string,
  { credential, ...body }: UpdateCredentialBody,
): Promise<CredentialView> {
  const row = await findCredential(deps, id)
  const secret = credential === undefined ? undefined : checkSecret(credential)
  const rotated =
    secret === undefined
      ? {}
      : { label: credentialLabel(secret), sealed_secret: deps.sealer.seal(secret, placeOf(row)) }
  const columns = { ...body, ...rotated }
  if (Object.keys(columns).length === 0) return viewOf(deps, row)
  const changed: CredentialRow = { ...row, ...columns, updated_at: new Date(deps.now()) }
  const { before, after } = difference(credentialSettings(row), credentialSettings(changed))
  const update = {
    action: 'credential.update',
    resourceId: row.id,
    workspaceId: null,
    before,
    after: secret === undefined ? after : { ...after, credential: 'replaced' },
  } as const
  const check = secret === undefined ? undefined : await refuseTwin(deps, row.provider, secret)
  await change(deps, actor, update, (tx) => [
    ...(check === undefined ? [] : [check(tx)]),
    tx
      .update(providerCredentials)
      .set({ ...columns, updated_at: changed.updated_at })
      .where(eq(providerCredentials.id, row.id)),
  ])
  deps.providers.reload(row.id)
  return viewOf(deps, changed)
}

export async function deleteCredential(deps: ProviderDeps, actor: Actor, id: string): Promise<void> {
  const row = await findCredential(deps, id)
  const gone = {
    action: 'credential.delete',
    resourceId: row.id,
    workspaceId: null,
    before: credentialSettings(row),
  } as const
  await change(deps, actor, gone, (tx) => [
    tx.delete(providerCredentials).where(eq(providerCredentials.id, row.id)),
  ])
  deps.providers.reload()
}

async function findCredential({ database: { db } }: ProviderDeps, id: string): Promise<CredentialRow> {
  const [row] = await db
    .select()
    .from(providerCredentials)
    .where(eq(providerCredentials.id, id.toLowerCase()))
  if (row === undefined) throw notFound('There is no stored credential with this id')
  return row
}

const viewOf = ({ providers }: ProviderDeps, row: CredentialRow): CredentialView =>
  credentialView(row, providers.originOf(row.provider))
