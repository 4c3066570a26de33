import { asc, eq, notExists } from 'drizzle-orm'
import type { Actor } from '../../core/actor.ts'
import { badRequest, conflict, notFound } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { newUuid } from '../../core/ids.ts'
import { isObject } from '../../core/json.ts'
import type { ProviderRecord } from '../../core/snapshot.ts'
import { selectRows } from '../../db/columns.ts'
import { requireThat, unlessTaken } from '../../db/database.ts'
import { auditOf } from '../../db/fields.ts'
import type { Sealer } from '../../db/seal.ts'
import { credential, providerCredentials, providerEntries } from '../../db/tables.ts'
import { readEntries } from '../../providers/entries.ts'
import { change } from '../change.ts'
import type { ProviderDeps } from './deps.ts'
import { entryPlaceOf, keptSecrets, maskedEntry, mergedEntry, withoutSecrets } from './entry-secrets.ts'
import { openEntry } from './stored.ts'

type Row = typeof providerEntries.$inferSelect

/** A stored entry as replies show it. */
export interface EntryView {
  id: string
  slug: string
  disabled: boolean
  /** What is used in its place; null: nothing. */
  outranked_by: 'settings' | 'environment' | null
  /** As in `providers:` of the settings; secrets masked. Empty if it cannot be opened. */
  entry: JsonObject
  created_at: string
  updated_at: string | null
}

export const listEntries = async (deps: ProviderDeps): Promise<EntryView[]> =>
  (await deps.database.db.select().from(providerEntries).orderBy(asc(providerEntries.slug))).map((row) =>
    viewOf(deps, row),
  )

export const getEntry = async (deps: ProviderDeps, slug: string): Promise<EntryView> =>
  viewOf(deps, await findEntry(deps, slug))

/** Requests are routed to it at once. Throws a 400 that names each wrong field without quoting values. */
export async function createEntry(deps: ProviderDeps, actor: Actor, body: unknown): Promise<EntryView> {
  const { disabled, entry } = readBody(body)
  const provider = checked(deps, entry)
  const { slug } = provider
  const row: Row = {
    id: newUuid(),
    slug,
    sealed_entry: '',
    disabled: disabled ?? false,
    created_at: new Date(deps.now()),
    updated_at: null,
  }
  row.sealed_entry = deps.sealer.seal(JSON.stringify(entry), entryPlaceOf(row.id))
  const made = { ...told('create', row), after: entryAudit(row, entry) }
  await refuseUsed(deps, slug)
  const isHeld = eq(providerCredentials.provider, slug)
  const creation = change(deps, actor, made, (tx) => [
    requireThat(
      tx,
      notExists(tx.select({ id: providerCredentials.id }).from(providerCredentials).where(isHeld)),
      () => conflict(`Another request stored a credential of ${slug} at the same time: try again`),
    ),
    tx.insert(providerEntries).values(row),
  ])
  await unlessTaken(creation, 'slug', () => taken(slug))
  deps.providers.reload()
  return viewOf(deps, row)
}

/** Omitted fields stay. The slug cannot be changed, and the address only together with its secrets. */
export async function updateEntry(
  deps: ProviderDeps,
  actor: Actor,
  slug: string,
  body: unknown,
): Promise<EntryView> {
  const row = await findEntry(deps, slug)
  const { disabled, entry: given } = readBody(body)
  if (given['slug'] !== undefined && given['slug'] !== row.slug) {
    throw badRequest('cannot be changed: make another entry', 'slug')
  }
  const before = openEntry(row, deps.sealer)
  const entry = mergedEntry(before, given)
  const [old, provider] = [checked(deps, before), checked(deps, entry)]
  await refuseMoved(deps, keptSecrets(given, before, entry), old, provider)
  const changed: Row = {
    ...row,
    disabled: disabled ?? row.disabled,
    sealed_entry: deps.sealer.seal(JSON.stringify(entry), entryPlaceOf(row.id)),
    updated_at: new Date(deps.now()),
  }
  const update = {
    ...told('update', row),
    before: entryAudit(row, before),
    after: entryAudit(changed, entry),
  }
  await change(deps, actor, update, (tx) => [
    tx.update(providerEntries).set(changed).where(eq(providerEntries.id, row.id)),
  ])
  // The credential in an entry bears its slug.
  deps.providers.reload(row.slug)
  return viewOf(deps, changed)
}

/** Deletes its credentials too: they were stored for its address. */
export async function deleteEntry(deps: ProviderDeps, actor: Actor, slug: string): Promise<void> {
  const row = await findEntry(deps, slug)
  const gone = { ...told('delete', row), before: entryAudit(row, shownOf(row, deps.sealer)) }
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

async function findEntry({ database: { db } }: ProviderDeps, slug: string): Promise<Row> {
  const [row] = await db.select().from(providerEntries).where(eq(providerEntries.slug, slug))
  if (row === undefined) throw notFound('There is no stored entry of a provider with this slug')
  return row
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
async function refuseMoved(
  { database: { db } }: ProviderDeps,
  [kept]: readonly string[],
  old: ProviderRecord,
  provider: ProviderRecord,
): Promise<void> {
  if (destinationsOf(old) === destinationsOf(provider)) return
  if (kept !== undefined) {
    throw badRequest('the entry moves to another address: send its secrets again, unmasked', kept)
  }
  const isOf = eq(providerCredentials.provider, old.slug)
  const [held] = await db.select({ id: providerCredentials.id }).from(providerCredentials).where(isOf)
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

const told = (verb: 'create' | 'update' | 'delete', { slug }: Row) => ({
  action: `provider.${verb}` as const,
  resourceId: slug,
  workspaceId: null,
})

const entryAudit = ({ slug, disabled }: Row, entry: JsonObject): JsonObject => ({
  slug,
  disabled,
  entry: withoutSecrets(entry),
})

function viewOf({ sealer, providers }: ProviderDeps, row: Row): EntryView {
  const origin = providers.originOf(row.slug)
  return {
    id: row.id,
    slug: row.slug,
    disabled: row.disabled,
    outranked_by: origin === 'settings' || origin === 'environment' ? origin : null,
    entry: shownOf(row, sealer),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at?.toISOString() ?? null,
  }
}

/** One damaged value must not hide the others of a list; each reading logs it. */
function shownOf(row: Row, sealer: Sealer): JsonObject {
  try {
    return maskedEntry(openEntry(row, sealer))
  } catch {
    return {}
  }
}
