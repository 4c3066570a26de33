import { asc, eq, notExists, type SQL } from 'drizzle-orm'
import type { Actor } from '../../core/actor.ts'
import { badRequest, conflict } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { newUuid } from '../../core/ids.ts'
import { isObject } from '../../core/json.ts'
import type { ProviderRecord } from '../../core/snapshot.ts'
import { selectRows } from '../../db/columns.ts'
import { type Db, mustChange, requireThat, unlessTaken } from '../../db/database.ts'
import { auditOf, newRow, viewOf } from '../../db/fields.ts'
import type { Sealer } from '../../db/seal.ts'
import {
  credential,
  type EntryRow,
  providerCredentials,
  providerEntries,
  storedEntry,
} from '../../db/tables.ts'
import { readEntries } from '../../providers/entries.ts'
import { change } from '../change.ts'
import { findRow } from '../resource.ts'
import type { ProviderDeps } from './deps.ts'
import { entryPlaceOf, keptSecrets, maskedEntry, mergedEntry, withoutSecrets } from './entry-secrets.ts'
import type { EntryView } from './schema.ts'
import { isUnchanged, outranking } from './service.ts'
import { openEntry } from './stored.ts'

export async function listEntries(deps: ProviderDeps): Promise<EntryView[]> {
  const rows = await selectRows(deps.database.db, providerEntries, undefined).orderBy(
    asc(providerEntries.slug),
  )
  return rows.map((row) => view(deps, row))
}

export const getEntry = async (deps: ProviderDeps, slug: string): Promise<EntryView> =>
  view(deps, await findRow(deps, storedEntry, slug))

/** Requests are routed to it at once. Throws a 400 that names each wrong field without quoting values. */
export async function createEntry(deps: ProviderDeps, actor: Actor, body: unknown): Promise<EntryView> {
  const { disabled, entry } = readBody(body)
  const { slug } = checked(deps, entry)
  const id = newUuid()
  const row = newRow(
    storedEntry,
    { disabled },
    { id, slug, sealed_entry: sealedEntry(deps, id, entry), created_at: new Date(deps.now()) },
  )
  const made = { ...changeOf('create', row), after: entryAudit(row, entry) }
  await refuseUsed(deps, slug)
  const creation = change(deps, actor, made, (tx) => [
    requireThat(tx, hasNoCredential(tx, slug), () => storedMeanwhile(slug)),
    tx.insert(providerEntries).values(row),
  ])
  await unlessTaken(creation, 'slug', () => taken(slug))
  deps.providers.reload()
  return view(deps, row)
}

const sealedEntry = ({ sealer }: ProviderDeps, id: string, entry: JsonObject): string =>
  sealer.seal(JSON.stringify(entry), entryPlaceOf(id))

const hasNoCredential = (tx: Db, slug: string): SQL =>
  notExists(
    tx
      .select({ id: providerCredentials.id })
      .from(providerCredentials)
      .where(eq(providerCredentials.provider, slug)),
  )

const storedMeanwhile = (slug: string) =>
  conflict(`Another request stored a credential of ${slug} at the same time: try again`)

/** Omitted fields stay. The slug cannot be changed, and the address only together with its secrets. */
export async function updateEntry(
  deps: ProviderDeps,
  actor: Actor,
  slug: string,
  body: unknown,
): Promise<EntryView> {
  const row = await findRow(deps, storedEntry, slug)
  const { disabled, entry: given } = readBody(body)
  if (given['slug'] !== undefined && given['slug'] !== row.slug) {
    throw badRequest('cannot be changed: make another entry', 'slug')
  }
  const before = openEntry(row, deps.sealer)
  const entry = mergedEntry(before, given)
  const [old, provider] = [checked(deps, before), checked(deps, entry)]
  const hasMoved = destinationsOf(old) !== destinationsOf(provider)
  if (hasMoved) await refuseMove(deps, slug, keptSecrets(given, before, entry))
  const changed: EntryRow = {
    ...row,
    disabled: disabled ?? row.disabled,
    sealed_entry: sealedEntry(deps, row.id, entry),
    updated_at: new Date(deps.now()),
  }
  const update = {
    ...changeOf('update', row),
    before: entryAudit(row, before),
    after: entryAudit(changed, entry),
  }
  await change(deps, actor, update, (tx) => [
    ...(hasMoved ? [requireThat(tx, hasNoCredential(tx, slug), () => storedMeanwhile(slug))] : []),
    mustChange(tx.update(providerEntries).set(changed).where(isUnchanged(row)), () =>
      conflict('Another request changed this entry at the same time: read it and try again'),
    ),
  ])
  // The credential in an entry bears its slug.
  deps.providers.reload(row.slug)
  return view(deps, changed)
}

/** Deletes its credentials too: they were stored for its address. */
export async function deleteEntry(deps: ProviderDeps, actor: Actor, slug: string): Promise<void> {
  const row = await findRow(deps, storedEntry, slug)
  const gone = { ...changeOf('delete', row), before: entryAudit(row, shownOf(row, deps.sealer)) }
  const isOf = eq(providerCredentials.provider, row.slug)
  const credentials = (await selectRows(deps.database.db, providerCredentials, isOf)).map((each) => ({
    action: 'credential.delete' as const,
    resourceId: each.id,
    workspaceId: null,
    before: auditOf(credential, each),
  }))
  await change(deps, actor, [gone, ...credentials], (tx) => [
    tx.delete(providerCredentials).where(isOf),
    tx.delete(providerEntries).where(eq(providerEntries.id, row.id)),
  ])
  deps.providers.reload()
}

/** The provider that an entry describes. Throws a 400 with every problem. */
function checked({ providers: { defaults } }: ProviderDeps, entry: JsonObject): ProviderRecord {
  refuseForeign(entry)
  const { providers, problems } = readEntries([entry], {}, defaults)
  const [provider] = providers
  if (problems.length > 0 || provider === undefined) {
    const sentences = problems.map(
      ({ path, message }) => `${path.replace(/^providers\[0\]\.?/, '')}: ${message}`,
    )
    throw badRequest(sentences.join('; '))
  }
  return provider
}

/** Variables and files of this machine are for the settings file, not for callers of the API. */
function refuseForeign(entry: JsonObject): void {
  if (JSON.stringify(entry).includes('${')) {
    throw badRequest('"${…}" is a variable in the settings file only: send the value itself')
  }
  const { vertex } = entry
  if (isObject(vertex) && vertex['credentials_file'] !== undefined) {
    throw badRequest(
      'is for the settings file alone: give the content of the file as vertex.service_account',
      'vertex.credentials_file',
    )
  }
}

function readBody(body: unknown): { disabled: boolean | undefined; entry: JsonObject } {
  if (!isObject(body)) throw badRequest('The body must be a JSON object')
  const { disabled, ...entry } = body
  if (disabled !== undefined && typeof disabled !== 'boolean') {
    throw badRequest('must be true or false', 'disabled')
  }
  return { disabled, entry }
}

const taken = (slug: string) =>
  conflict(`slug: an entry "${slug}" is stored already; change it, or take another slug`)

/** One slug is one provider: a vendor's credential must not be sent to the address of an entry. */
async function refuseUsed({ database: { db } }: ProviderDeps, slug: string): Promise<void> {
  const [entry] = await selectRows(db, providerEntries, eq(providerEntries.slug, slug))
  const [held] = await selectRows(db, providerCredentials, eq(providerCredentials.provider, slug))
  if (entry !== undefined) throw taken(slug)
  if (held === undefined) return
  throw conflict(
    `slug: the credential ${held.id} is stored for ${slug} at another address; remove it first, or take another slug`,
  )
}

/** Moving an entry requires its secrets: they are never sent to an address they were not stored for. */
async function refuseMove(
  { database: { db } }: ProviderDeps,
  slug: string,
  [kept]: readonly string[],
): Promise<void> {
  if (kept !== undefined) {
    throw badRequest('the entry moves to another address: send its secrets again, unmasked', kept)
  }
  const [held] = await selectRows(db, providerCredentials, eq(providerCredentials.provider, slug))
  if (held === undefined) return
  throw conflict(
    `The credential ${held.id} was given for the old address of this entry: remove it before the entry moves`,
  )
}

/** Where its secrets are sent: the hosts of its address and of its token endpoints. */
const destinationsOf = ({ baseUrl, credentials }: ProviderRecord): string =>
  JSON.stringify([
    new URL(baseUrl).origin,
    ...credentials.flatMap(({ entra, google }) => [entra?.tokenUrl, google?.tokenUrl]),
  ])

const changeOf = (verb: 'create' | 'update' | 'delete', { slug }: EntryRow) => ({
  action: `provider.${verb}` as const,
  resourceId: slug,
  workspaceId: null,
})

const entryAudit = (row: EntryRow, entry: JsonObject): JsonObject => ({
  ...auditOf(storedEntry, row),
  entry: withoutSecrets(entry),
})

const view = ({ sealer, providers }: ProviderDeps, row: EntryRow): EntryView => ({
  ...viewOf(storedEntry, row),
  outranked_by: outranking(providers, row.slug),
  entry: shownOf(row, sealer),
})

/** One damaged value must not hide the others of a list; each reading logs it. */
function shownOf(row: EntryRow, sealer: Sealer): JsonObject {
  try {
    return maskedEntry(openEntry(row, sealer))
  } catch {
    return {}
  }
}
