import { asc, eq } from 'drizzle-orm'
import { isObject } from '../../core/json.ts'
import type { CredentialRecord, ModelOffer, ProviderRecord } from '../../core/snapshot.ts'
import type { Database } from '../../db/database.ts'
import type { Sealer } from '../../db/seal.ts'
import { type EntryRow, providerCredentials, providerEntries } from '../../db/tables.ts'
import { type Vendor, vendors } from '../../providers/compatible.ts'
import { readEntries } from '../../providers/entries.ts'
import { type ProviderDefaults, vendorProvider } from '../../providers/environment.ts'
import { isHeaderValue } from '../../providers/provider.ts'
import { readBaseUrl } from '../../providers/settings.ts'
import { hasFixedAddress } from './credential-fields.ts'
import { entryPlaceOf } from './entry-secrets.ts'
import { placeOf } from './service.ts'

type Row = typeof providerCredentials.$inferSelect

/** A stored credential or entry that cannot be used. The sentence names its row, never the secret. */
export interface LeftOut {
  /** The row's id. */
  readonly id: string
  readonly provider: string
  readonly label: string
  readonly reason: string
}

export interface StoredProviders {
  providers: ProviderRecord[]
  /** Of the entries. */
  models: ModelOffer[]
  leftOut: LeftOut[]
}

/** Stored providers with their secrets opened; `reload` reads them again. */
export interface StoredSource {
  current(): StoredProviders
  reload(): void
}

/** Reads now. Each reading reports unusable rows to `onLeftOut`. */
export function createStoredSource(
  database: Database,
  sealer: Sealer,
  defaults: ProviderDefaults,
  onLeftOut: (one: LeftOut) => void,
): StoredSource {
  const read = (): StoredProviders => {
    const stored = storedProviders(database, sealer, defaults)
    for (const one of stored.leftOut) onLeftOut(one)
    return stored
  }
  let latest = read()
  return {
    current: () => latest,
    reload() {
      latest = read()
    },
  }
}

/**
 * The stored entries, and the vendors of stored credentials, without those that are disabled; the credentials of one
 * provider in their order. An unusable row is skipped and reported: one damaged value must not stop a start. The
 * credentials' ids are the rows'.
 */
export function storedProviders(
  database: Database,
  sealer: Sealer,
  defaults: ProviderDefaults,
): StoredProviders {
  const rows = database.sync
    .select()
    .from(providerCredentials)
    .where(eq(providerCredentials.disabled, false))
    .orderBy(
      asc(providerCredentials.provider),
      asc(providerCredentials.sort_order),
      asc(providerCredentials.id),
    )
    .all()
  const entries = database.sync.select().from(providerEntries).orderBy(asc(providerEntries.slug)).all()
  const described = new Set(entries.map(({ slug }) => slug))
  const stored: StoredProviders = { providers: [], models: [], leftOut: [] }
  for (const entry of entries) {
    const own = rows.filter(({ provider }) => provider === entry.slug)
    if (!entry.disabled) addEntry(stored, entry, own, sealer, defaults)
  }
  // A credential of an entry goes to the entry's address alone, even while the entry is disabled.
  const ofVendors = rows.filter(({ provider }) => !described.has(provider))
  stored.providers.push(...vendorsOf(ofVendors, sealer, defaults, stored.leftOut))
  return stored
}

/** An entry as it is stored, opened. Throws a sentence when it cannot be. */
export function openEntry({ id, sealed_entry }: EntryRow, sealer: Sealer): Record<string, unknown> {
  const entry: unknown = JSON.parse(sealer.open(sealed_entry, entryPlaceOf(id)))
  if (!isObject(entry)) throw new Error(`The sealed value in provider_entries ${id} is not an entry`)
  return entry
}

function addEntry(
  stored: StoredProviders,
  row: EntryRow,
  credentialRows: readonly Row[],
  sealer: Sealer,
  defaults: ProviderDefaults,
): void {
  const leave = (reason: string) =>
    stored.leftOut.push({ id: row.id, provider: row.slug, label: 'entry', reason })
  try {
    const { providers, models, problems } = readEntries([openEntry(row, sealer)], {}, defaults)
    const [provider] = providers
    const [problem] = problems
    if (provider === undefined || problem !== undefined) {
      leave(`The entry in provider_entries ${row.id}: ${problem?.path ?? ''} ${problem?.message ?? ''}`)
      return
    }
    const further: CredentialRecord[] = []
    for (const one of credentialRows) {
      const secret = openSecret(one, sealer)
      if ('reason' in secret) stored.leftOut.push(leftOutOf(one, secret.reason))
      else further.push(recordOf(one, secret.secret))
    }
    const own = provider.credentials.filter(({ secret }) => secret !== null || further.length === 0)
    stored.providers.push({ ...provider, credentials: [...own, ...further] })
    stored.models.push(...models)
  } catch (error) {
    leave(error instanceof Error ? error.message : `The entry in provider_entries ${row.id} cannot be opened`)
  }
}

function vendorsOf(
  rows: readonly Row[],
  sealer: Sealer,
  defaults: ProviderDefaults,
  leftOut: LeftOut[],
): ProviderRecord[] {
  const found = new Map<string, Found>()
  for (const row of rows) {
    const usable = readRow(row, sealer, found.get(row.provider)?.baseUrl)
    if (typeof usable === 'string') {
      leftOut.push(leftOutOf(row, usable))
      continue
    }
    const credential = recordOf(row, usable.secret)
    const known = found.get(row.provider)
    if (known === undefined) found.set(row.provider, { ...usable, credentials: [credential] })
    else known.credentials.push(credential)
  }
  return [...found.values()].map(({ vendor, baseUrl, credentials }) =>
    vendorProvider(vendor, baseUrl, credentials, defaults),
  )
}

const leftOutOf = ({ id, provider, label }: Row, reason: string): LeftOut => ({ id, provider, label, reason })

const recordOf = ({ id, weight }: Row, secret: string): CredentialRecord => ({
  id,
  secret,
  ...(weight === null ? {} : { weight }),
})

interface Usable {
  readonly vendor: Vendor
  readonly baseUrl: string
  readonly secret: string
}
interface Found extends Omit<Usable, 'secret'> {
  readonly credentials: CredentialRecord[]
}

/** A text says why the row cannot be used. `address`: where the provider's credentials before it go. */
function readRow(row: Row, sealer: Sealer, address: string | undefined): Usable | string {
  const where = `provider_credentials ${row.id}`
  const vendor = vendors.find(({ slug }) => slug === row.provider)
  if (vendor === undefined) return `The provider of ${where} is not known to this version`
  if (row.base_url === null && !hasFixedAddress(vendor)) return `There is no base_url in ${where}`
  const base = readBaseUrl(row.base_url ?? vendor.baseUrl)
  if ('problem' in base) return `The base_url in ${where} ${base.problem}`
  const baseUrl = base.url
  if (address !== undefined && address !== baseUrl)
    return `The base_url in ${where} is not that of the provider's first credential`
  const opened = openSecret(row, sealer)
  return 'reason' in opened ? opened.reason : { vendor, baseUrl, secret: opened.secret }
}

function openSecret(row: Row, sealer: Sealer): { secret: string } | { reason: string } {
  const where = `provider_credentials ${row.id}`
  try {
    const secret = sealer.open(row.sealed_secret, placeOf(row))
    return isHeaderValue(secret) ? { secret } : { reason: `The sealed value in ${where} is not a credential` }
  } catch (error) {
    return {
      reason: error instanceof Error ? error.message : `The sealed value in ${where} cannot be opened`,
    }
  }
}
