import type { Static } from '@sinclair/typebox'
import { eq, exists } from 'drizzle-orm'
import type { Actor } from '../../core/actor.ts'
import { badRequest, conflict } from '../../core/errors.ts'
import { selectRows } from '../../db/columns.ts'
import { type Db, requireThat } from '../../db/database.ts'
import { storedOf, viewOf } from '../../db/fields.ts'
import { type CredentialRow, credential, providerEntries } from '../../db/tables.ts'
import { change } from '../change.ts'
import { deleteRow, findRow, updateRow } from '../resource.ts'
import { checkCredential, checkSecret, credentialLabel } from './credential-fields.ts'
import type { ProviderDeps } from './deps.ts'
import type {
  createCredentialBody,
  credentialReply,
  ListCredentialsQuery,
  updateCredentialBody,
} from './schema.ts'
import {
  creationOf,
  credentialRows,
  isUnchanged,
  type NewCredential,
  outranking,
  placeOf,
  refuseConflict,
  refuseTwin,
} from './service.ts'
import { openEntry } from './stored.ts'

type CreateBody = Static<typeof createCredentialBody>
type CredentialReply = Static<typeof credentialReply>

/** Provider by provider, those of one in the order in which they are tried. */
export async function listStoredCredentials(
  deps: ProviderDeps,
  { provider }: ListCredentialsQuery,
): Promise<CredentialReply[]> {
  return (await credentialRows(deps.database, provider)).map((row) => view(deps, row))
}

/** Stores a credential of a vendor, or of a stored entry, at its address. Used for the next request. */
export async function createCredential(
  deps: ProviderDeps,
  actor: Actor,
  body: CreateBody,
): Promise<CredentialReply> {
  const { id, made, writes } = creationOf(deps, await readCredential(deps, body), body)
  await change(deps, actor, made, writes)
  deps.providers.reload()
  return view(deps, await find(deps, id))
}

async function readCredential(deps: ProviderDeps, body: CreateBody): Promise<NewCredential> {
  const isIt = eq(providerEntries.slug, body.provider)
  const [row] = await selectRows(deps.database.db, providerEntries, isIt)
  if (row === undefined) {
    const { credential: secret, base_url: baseUrl } = body
    const fields = { provider: body.provider, secret, name: body.name, baseUrl }
    const checked = checkCredential(fields)
    const checks = await refuseConflict(deps, checked.vendor, checked.secret, checked.baseUrl)
    return { ...checked, provider: checked.vendor.slug, checks }
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
  const isSame = (tx: Db) =>
    exists(tx.select({ id: providerEntries.id }).from(providerEntries).where(isUnchanged(row)))
  return {
    provider: row.slug,
    secret,
    name: body.name?.trim() || row.slug,
    baseUrl: null,
    checks: (tx) => [
      check(tx),
      // The credential goes to the address that the entry has now.
      requireThat(tx, isSame(tx), () =>
        conflict(`Another request changed the entry ${row.slug} at the same time: read it and try again`),
      ),
    ],
  }
}

/** Used for the next request. A new secret goes where the old one went. */
export async function updateCredential(
  deps: ProviderDeps,
  actor: Actor,
  id: string,
  { credential: given, ...body }: Static<typeof updateCredentialBody>,
): Promise<CredentialReply> {
  const row = await find(deps, id)
  const columns = storedOf(credential, body)
  if (given === undefined && Object.keys(columns).length === 0) return view(deps, row)
  if (given === undefined) return changed(deps, await updateRow(deps, actor, credential, row, columns))
  const secret = checkSecret(given)
  const check = await refuseTwin(deps, row.provider, secret)
  const rotated = {
    ...columns,
    label: credentialLabel(secret),
    sealed_secret: deps.sealer.seal(secret, placeOf(row)),
  }
  const update = updateRow(deps, actor, credential, row, rotated, {
    note: { credential: 'replaced' },
    checks: (tx) => [check(tx)],
  })
  return changed(deps, await update)
}

function changed(deps: ProviderDeps, row: CredentialRow): CredentialReply {
  deps.providers.reload(row.id)
  return view(deps, row)
}

export async function deleteCredential(deps: ProviderDeps, actor: Actor, id: string): Promise<void> {
  await deleteRow(deps, actor, credential, await find(deps, id))
  deps.providers.reload()
}

const find = (deps: ProviderDeps, id: string): Promise<CredentialRow> =>
  findRow(deps, credential, id.toLowerCase())

const view = ({ providers }: ProviderDeps, row: CredentialRow): CredentialReply => ({
  ...viewOf(credential, row),
  outranked_by: outranking(providers, row.provider),
})
