import { asc, eq } from 'drizzle-orm'
import type { CredentialRecord, ProviderRecord } from '../../core/snapshot.ts'
import type { Database } from '../../db/database.ts'
import type { Sealer } from '../../db/seal.ts'
import { providerCredentials } from '../../db/tables.ts'
import { readBaseUrl } from '../../providers/base-url.ts'
import { type Vendor, vendors } from '../../providers/compatible.ts'
import { isHeaderValue } from '../../providers/credential-header.ts'
import { type ProviderDefaults, vendorProvider } from '../../providers/environment.ts'
import { hasFixedAddress, placeOf } from './service.ts'

type Row = typeof providerCredentials.$inferSelect

/** A stored credential that cannot be used. The sentence names its row, never the secret. */
export interface LeftOut {
  /** The row's id. */
  readonly id: string
  readonly provider: string
  readonly label: string
  readonly reason: string
}

/**
 * The providers of the stored credentials that are not disabled, those of one provider in their order. A row that
 * cannot be used is left out and told: one damaged value must not stop a start. The credentials' ids are the rows'.
 */
export async function storedProviders(
  database: Database,
  sealer: Sealer,
  defaults: ProviderDefaults,
): Promise<{ providers: ProviderRecord[]; leftOut: LeftOut[] }> {
  const rows = await database.db
    .select()
    .from(providerCredentials)
    .where(eq(providerCredentials.disabled, false))
    .orderBy(
      asc(providerCredentials.provider),
      asc(providerCredentials.sort_order),
      asc(providerCredentials.id),
    )
  const found = new Map<string, Found>()
  const leftOut: LeftOut[] = []
  for (const row of rows) {
    const { id, provider, label } = row
    const usable = readRow(row, sealer, found.get(provider)?.baseUrl)
    if (typeof usable === 'string') {
      leftOut.push({ id, provider, label, reason: usable })
      continue
    }
    const credential = { id, secret: usable.secret }
    const known = found.get(provider)
    if (known === undefined) found.set(provider, { ...usable, credentials: [credential] })
    else known.credentials.push(credential)
  }
  const providers = [...found.values()].map(({ vendor, baseUrl, credentials }) =>
    vendorProvider(vendor, baseUrl, credentials, defaults),
  )
  return { providers, leftOut }
}

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
  try {
    const secret = sealer.open(row.sealed_secret, placeOf(row.id))
    return isHeaderValue(secret) ? { vendor, baseUrl, secret } : `What is sealed in ${where} is no credential`
  } catch (error) {
    return error instanceof Error ? error.message : `The sealed value in ${where} cannot be opened`
  }
}
