import { badRequest } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import type { Place } from '../../db/seal.ts'

/** The fields of an entry that are secrets. */
const SECRETS: readonly (readonly [block: string | null, name: string])[] = [
  [null, 'api_key'],
  ['aws', 'access_key_id'],
  ['aws', 'secret_access_key'],
  ['aws', 'session_token'],
  ['azure', 'client_secret'],
  ['vertex', 'service_account'],
]
const LEAST_SHOWN = 16
const MASKED = /^(?:.{4})?\.\.\.(?:.{4})?$/

type Entry = Readonly<Record<string, unknown>>

/** Where the entry of a row is sealed to. */
export const entryPlaceOf = (rowId: string): Place => ({
  table: 'provider_entries',
  column: 'sealed_entry',
  rowId,
})

const mask = (secret: string): string =>
  secret.length < LEAST_SHOWN ? '...' : `${secret.slice(0, 4)}...${secret.slice(-4)}`

const blockOf = (entry: Entry, block: string | null): Entry => {
  const found = block === null ? entry : entry[block]
  return isObject(found) ? found : {}
}

/** A copy of the entry with each secret replaced by `change`; undefined removes it. */
function withSecrets(entry: Entry, change: (secret: string) => string | undefined): Record<string, unknown> {
  const copy: Record<string, unknown> = structuredClone({ ...entry })
  for (const [block, name] of SECRETS) {
    const holder = block === null ? copy : copy[block]
    if (!isObject(holder)) continue
    const secret = holder[name]
    if (typeof secret !== 'string') continue
    const changed = change(secret)
    if (changed === undefined) delete holder[name]
    else holder[name] = changed
  }
  return copy
}

/** The entry with its secrets masked, for replies. */
export const maskedEntry = (entry: Entry): Record<string, unknown> => withSecrets(entry, mask)

/** The entry without its secrets, for the audit log. */
export const withoutSecrets = (entry: Entry): Record<string, unknown> => withSecrets(entry, () => undefined)

/**
 * `given` over `stored`: a field that is left out stays, null removes it, a block is replaced, and a secret in its
 * masked form is the stored one. Throws a 400 for the masked form of another secret.
 */
export function mergedEntry(stored: Entry, given: Entry): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...stored }
  for (const [name, value] of Object.entries(given)) {
    if (value === null) delete merged[name]
    else merged[name] = structuredClone(value)
  }
  for (const [block, name] of SECRETS) {
    const holder = block === null ? merged : merged[block]
    if (!isObject(holder)) continue
    const [value, before] = [holder[name], blockOf(stored, block)[name]]
    if (typeof value !== 'string' || !MASKED.test(value)) continue
    if (typeof before !== 'string' || mask(before) !== value) {
      throw badRequest(
        'this is the masked form of a secret: send the complete secret, or leave the field out',
        block === null ? name : `${block}.${name}`,
      )
    }
    holder[name] = before
  }
  return merged
}

/** The secrets that `merged` takes from `stored` because `given` leaves them out or masks them. */
export const keptSecrets = (given: Entry, stored: Entry, merged: Entry): string[] =>
  SECRETS.filter(([block, name]) => {
    const [sent, value] = [blockOf(given, block)[name], blockOf(merged, block)[name]]
    const isMeant = sent === undefined || (typeof sent === 'string' && MASKED.test(sent))
    return isMeant && typeof value === 'string' && value !== '' && value === blockOf(stored, block)[name]
  }).map(([block, name]) => (block === null ? name : `${block}.${name}`))
