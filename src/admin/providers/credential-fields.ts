import { badRequest, notFound } from '../../core/errors.ts'
import { labelOf } from '../../core/keys.ts'
import { nearestNames } from '../../core/nearest.ts'
import { cloudVendors, type Vendor, vendors } from '../../providers/compatible.ts'
import { withVersion } from '../../providers/environment.ts'
import { isHeaderValue } from '../../providers/provider.ts'
import { readBaseUrl } from '../../providers/settings.ts'

export interface CredentialFields {
  /** The slug of a vendor. */
  readonly provider: string
  readonly secret: string
  /** Default: the vendor's name. */
  readonly name?: string | undefined
  /** Default: the vendor's own address. */
  readonly baseUrl?: string | undefined
}

const MOST_CHARACTERS = 4096
/** A label shows six characters of the secret, too many of a shorter one. */
const LEAST_SHOWN = 16
const NEAREST = 3
/** A longer text than any name may be a credential in the wrong place: it is not repeated. */
const LONGEST_NAME = 20

export interface CheckedFields {
  readonly vendor: Vendor
  readonly secret: string
  readonly name: string
  readonly baseUrl: string | null
}

/** Checks the fields of a new credential. Throws a 400 that never quotes the secret. */
export function checkCredential(fields: CredentialFields): CheckedFields {
  const vendor = findVendor(fields.provider)
  const secret = checkSecret(fields.secret)
  return { vendor, secret, name: fields.name?.trim() || vendor.name, baseUrl: baseUrlOf(fields, vendor) }
}

/** The secret as it is stored. Throws a 400 that does not quote it. */
export function checkSecret(text: string): string {
  const secret = text.trim()
  if (secret === '') throw badRequest('must not be empty', 'credential')
  if (secret.length > MOST_CHARACTERS)
    throw badRequest(`must have at most ${MOST_CHARACTERS} characters`, 'credential')
  if (!isHeaderValue(secret))
    throw badRequest(
      'contains characters that no credential has, such as a space or a line break',
      'credential',
    )
  return secret
}

/** Masked form. */
export const credentialLabel = (secret: string): string =>
  secret.length < LEAST_SHOWN ? '...' : labelOf(secret)

function baseUrlOf({ baseUrl }: CredentialFields, vendor: Vendor): string | null {
  if (baseUrl !== undefined) {
    const base = readBaseUrl(baseUrl)
    if ('problem' in base) throw badRequest(base.problem, 'base_url')
    return withVersion(base.url, vendor)
  }
  if (hasFixedAddress(vendor)) return null
  throw badRequest(
    `a part of the address of ${vendor.name} depends on the account: set the complete address, as in ${vendor.baseUrl}`,
    'base_url',
  )
}

/** False: a part of the address is the account's, as in `https://${DATABRICKS_HOST}/…`. */
export const hasFixedAddress = ({ baseUrl }: Vendor): boolean => !baseUrl.includes('${')

/** The vendor of this slug. Throws a 404 that names those that look most like it. */
export function findVendor(slug: string): Vendor {
  const vendor = vendors.find((one) => one.slug === slug)
  if (vendor !== undefined) return vendor
  if (cloudVendors.some((one) => one.slug === slug)) {
    throw notFound(
      `${slug} needs more than a key: set its variables (see the README), or write a "providers:" entry with its block`,
    )
  }
  const shown = slug.length <= LONGEST_NAME && isHeaderValue(slug) ? `"${slug}"` : 'with the name given'
  const nearest = nearestVendors(slug)
  const hint =
    nearest.length > 0
      ? `Did you mean ${nearest.join(' or ')}?`
      : `The known ones are ${vendors.map((one) => one.slug).join(', ')}.`
  throw notFound(`There is no provider ${shown}. ${hint} Others are "providers:" entries of sluice.yaml`)
}

/** By slug, by name and by the credential's variable: "gemini" is near google through GEMINI_API_KEY. */
function nearestVendors(text: string): string[] {
  const slugs = new Map<string, string>()
  for (const { slug, name, keys } of vendors) {
    for (const key of keys) slugs.set(key.replace(/_(?:API_KEY|TOKEN|PAT)$/, '').toLowerCase(), slug)
    slugs.set(name.toLowerCase(), slug)
    slugs.set(slug, slug)
  }
  const near = nearestNames(text.toLowerCase(), slugs.keys(), 2 * NEAREST)
  return [...new Set(near.flatMap((name) => slugs.get(name) ?? []))].slice(0, NEAREST)
}
