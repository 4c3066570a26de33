import type { Static } from '@sinclair/typebox'
import { and, asc, eq, notExists, notInArray, type SQL, sql } from 'drizzle-orm'
import { conflict } from '../../core/errors.ts'
import { newUuid } from '../../core/ids.ts'
import { selectRows } from '../../db/columns.ts'
import { type Database, type Db, requireThat, type Write } from '../../db/database.ts'
import { auditOf, newRow, viewOf } from '../../db/fields.ts'
import type { Place, Sealer } from '../../db/seal.ts'
import {
  type CredentialRow,
  credential,
  type EntryRow,
  providerCredentials,
  providerEntries,
} from '../../db/tables.ts'
import type { Vendor } from '../../providers/compatible.ts'
import { changeAside } from '../change.ts'
import { findRow } from '../resource.ts'
import { type CredentialFields, checkCredential, credentialLabel } from './credential-fields.ts'
import type { ProviderDeps } from './deps.ts'

export interface CredentialDeps {
  database: Database
  sealer: Sealer
  /** Milliseconds since 1970. */
  now(): number
}

/** A stored credential without its secret, sealed or not. */
export type Credential = Static<typeof credential.view>

/** The place that the secret of a row is sealed to. */
export const placeOf = ({
  id,
  provider,
  base_url,
}: Pick<CredentialRow, 'id' | 'provider' | 'base_url'>): Place => ({
  table: 'provider_credentials',
  column: 'sealed_secret',
  rowId: id,
  sentTo: [provider, base_url ?? ''],
})

/** Seals and stores a credential, after those of its provider. Used from the next start on. */
export async function storeCredential(deps: CredentialDeps, fields: CredentialFields): Promise<Credential> {
  const { vendor, ...checked } = checkCredential(fields)
  const checks = await refuseConflict(deps, vendor, checked.secret, checked.baseUrl)
  const { id, made, writes } = creationOf(deps, { ...checked, provider: vendor.slug, checks })
  await changeAside(deps.database, 'sluice providers add', made, writes)
  return viewOf(credential, await findRow(deps, credential, id))
}

export interface NewCredential {
  readonly provider: string
  readonly secret: string
  readonly name: string
  readonly baseUrl: string | null
  /** Part of the transaction that stores it. */
  readonly checks: (tx: Db) => readonly Write[]
}

/** The audit entry and the writes of a new credential, with the further columns that `body` sets. */
export function creationOf(
  { sealer, now }: CredentialDeps,
  { provider, secret, name, baseUrl, checks }: NewCredential,
  body: { sort_order?: number } = {},
) {
  const place = { id: newUuid(), provider, base_url: baseUrl }
  const row = newRow(credential, body, {
    ...place,
    name,
    label: credentialLabel(secret),
    sealed_secret: sealer.seal(secret, placeOf(place)),
    created_at: new Date(now()),
  })
  const after = { provider, name, label: row.label, base_url: baseUrl, weight: row.weight }
  return {
    id: row.id,
    made: { action: 'credential.create', resourceId: row.id, workspaceId: null, after } as const,
    writes: (tx: Db): Write[] => [
      ...checks(tx),
      tx
        .insert(providerCredentials)
        .values({ ...row, sort_order: body.sort_order ?? nextSortOrder(provider) }),
    ],
  }
}

/** One more than the largest so far, found inside the same statement. */
const nextSortOrder = (provider: string) =>
  sql<number>`(select coalesce(max(${providerCredentials.sort_order}), -1) + 1
    from ${providerCredentials} where ${eq(providerCredentials.provider, provider)})`

/**
 * Throws a 409 if this provider has the same secret already. Secrets are sealed, so no index can compare them; returns
 * the check that the provider's credentials are still those that were compared.
 */
export async function refuseTwin(
  { database, sealer }: CredentialDeps,
  provider: string,
  secret: string,
): Promise<(tx: Db) => Write> {
  const isOf = eq(providerCredentials.provider, provider)
  const rows = await selectRows(database.db, providerCredentials, isOf)
  const twin = rows.find((row) => opens(sealer, row, secret))
  if (twin !== undefined) throw conflict(`This credential of ${provider} is stored already, as ${twin.id}`)
  const seals = rows.map((row) => row.sealed_secret)
  return (tx) => {
    const others = and(
      isOf,
      seals.length === 0 ? undefined : notInArray(providerCredentials.sealed_secret, seals),
    )
    const found = tx.select({ id: providerCredentials.id }).from(providerCredentials).where(others)
    return requireThat(tx, notExists(found), () =>
      conflict(`Another request stored a credential of ${provider} at the same time: try again`),
    )
  }
}

/**
 * Throws a 409 unless all credentials of the provider go to one address. Returns the checks that this is still so.
 */
export async function refuseConflict(
  deps: CredentialDeps,
  vendor: Vendor,
  secret: string,
  baseUrl: string | null,
): Promise<(tx: Db) => Write[]> {
  const isStillUnique = await refuseTwin(deps, vendor.slug, secret)
  const { db } = deps.database
  const isEntry = eq(providerEntries.slug, vendor.slug)
  const refusal = () =>
    conflict(
      `There is a stored entry "${vendor.slug}" at an address of its own: give its credentials by the API, or remove it first`,
    )
  const [entry] = await selectRows(db, providerEntries, isEntry)
  if (entry !== undefined) throw refusal()
  const rows = await credentialRows(deps.database, vendor.slug)
  const other = rows.find((row) => row.base_url !== baseUrl)
  if (other === undefined) {
    return (tx) => [
      isStillUnique(tx),
      requireThat(
        tx,
        notExists(tx.select({ id: providerEntries.id }).from(providerEntries).where(isEntry)),
        refusal,
      ),
    ]
  }
  const address = other.base_url ?? `the vendor's own address, ${vendor.baseUrl}`
  throw conflict(
    `The stored credential ${other.id} of ${vendor.name} goes to ${address}: all of one provider go to one ` +
      'address. Give this one the same, or remove the other first',
  )
}

function opens(sealer: Sealer, row: CredentialRow, secret: string): boolean {
  try {
    return sealer.open(row.sealed_secret, placeOf(row)) === secret
  } catch {
    return false
  }
}

/** The condition that a stored entry is as it was read. */
export const isUnchanged = ({ id, sealed_entry }: EntryRow): SQL | undefined =>
  and(eq(providerEntries.id, id), eq(providerEntries.sealed_entry, sealed_entry))

/** The source whose provider is used in place of the stored one with this slug; null: the stored one is used. */
export function outranking(
  { originOf }: ProviderDeps['providers'],
  slug: string,
): 'settings' | 'environment' | null {
  const origin = originOf(slug)
  return origin === 'settings' || origin === 'environment' ? origin : null
}

/** Provider by provider, those of one in the order in which they are tried; of all providers, or of one. */
export const credentialRows = async ({ db }: Database, provider?: string): Promise<CredentialRow[]> => {
  const { id, provider: slug, sort_order } = providerCredentials
  const where = provider === undefined ? undefined : eq(slug, provider)
  return await selectRows(db, providerCredentials, where).orderBy(asc(slug), asc(sort_order), asc(id))
}

export const listCredentials = async (database: Database): Promise<Credential[]> =>
  (await credentialRows(database)).map((row) => viewOf(credential, row))

/** Deletes a credential. Throws a 404 for an unknown id. */
export async function removeCredential(database: Database, id: string): Promise<void> {
  const before = auditOf(credential, await findRow({ database }, credential, id))
  const gone = { action: 'credential.delete', resourceId: id, workspaceId: null, before } as const
  await changeAside(database, 'sluice providers remove', gone, (tx) => [
    tx.delete(providerCredentials).where(eq(providerCredentials.id, id)),
  ])
}
