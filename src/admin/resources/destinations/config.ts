import { badRequest } from '../../../core/errors.ts'
import type { JsonObject } from '../../../core/events.ts'
import { isObject } from '../../../core/json.ts'
import {
  type ConfigField,
  DESTINATION_TYPES,
  type DestinationConfig,
  type DestinationType,
  ENCODING_HEADER,
} from '../../../exporters/destination-types.ts'
import { checkUrl, type OutboundAllow } from '../../../net/address.ts'

const MOST_CHARACTERS = 4096
const MOST_HEADERS = 50
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/
const HEADER_VALUE = /^[\x20-\x7e]*$/
const LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/
/** The ends of a shorter secret would reveal it. */
const LEAST_SHOWN = 12
/** Headers that decide where a body goes and where it ends. */
const OF_THE_CONNECTION = new Set(['host', 'content-length', 'transfer-encoding', 'connection'])
const MASKED = /^(?:.{4})?\.\.\.(?:.{4})?$/

/** First four characters, `...`, last four; of a short secret nothing. */
const mask = (secret: string): string =>
  secret.length < LEAST_SHOWN ? '...' : `${secret.slice(0, 4)}...${secret.slice(-4)}`

/** The config as replies show it: every field, with secrets and headers masked. */
export function maskedConfig(type: DestinationType, { fields, headers }: DestinationConfig): JsonObject {
  const shown = DESTINATION_TYPES[type].flatMap(({ name, isSecret }) => {
    const value = fields[name]
    return value === undefined ? [] : [[name, isSecret === true ? mask(value) : value]]
  })
  const masked = Object.entries(headers ?? {}).map(([name, value]) => [name, mask(value)])
  return {
    ...Object.fromEntries(shown),
    ...(headers === null ? {} : { headers: Object.fromEntries(masked) }),
  }
}

/**
 * Reads a `config`. Omitted fields, and secrets in their masked form, keep the values of `stored`. Throws a 400 that names the field and never quotes a value; also where secrets that stay would be sent
 * to another host.
 */
export function readConfig(
  type: DestinationType,
  given: Readonly<Record<string, unknown>>,
  allow: OutboundAllow,
  stored?: DestinationConfig,
): DestinationConfig {
  const known = DESTINATION_TYPES[type]
  const names = new Set([...known.map(({ name }) => name), 'headers'])
  for (const name of Object.keys(given)) {
    if (names.has(name)) continue
    throw badRequest(`a destination of the type ${type} takes ${[...names].join(', ')}`, placeOf(name))
  }
  const fields: Record<string, string> = {}
  for (const field of known) {
    const value = readField(type, field, given[field.name], allow, stored?.fields[field.name])
    if (value !== undefined) fields[field.name] = value
  }
  const headers = readHeaders(given['headers'], stored?.headers ?? null)
  const read = { fields, headers, ...(stored?.signing && { signing: stored.signing }) }
  if (type === 'otel-collector') checkEncoding(read.headers)
  if (stored !== undefined) refuseMoved(type, given, stored, read)
  return read
}

/** Moving a destination requires its secrets: they are never sent to a host they were not stored for. */
function refuseMoved(
  type: DestinationType,
  given: Readonly<Record<string, unknown>>,
  before: DestinationConfig,
  after: DestinationConfig,
): void {
  if (Bun.deepEquals(hostsOf(type, before), hostsOf(type, after))) return
  const kept = DESTINATION_TYPES[type].find(({ name, isSecret }) => isSecret === true && isMeant(given[name]))
  const headers = isObject(given['headers']) ? given['headers'] : {}
  const header = Object.keys(after.headers ?? {}).find((name) => isMeant(headers[name]))
  const place = kept?.name ?? (header && `headers.${header}`)
  if (place === undefined) return
  throw badRequest(
    'the destination moves to another address: send its secrets and headers again, unmasked',
    placeOf(place),
  )
}

/** Whether the stored value is meant: by its masked form, or by nothing. */
const isMeant = (given: unknown): boolean =>
  given === undefined || (typeof given === 'string' && MASKED.test(given))

/** Where it is sent to. A DSN is a secret itself, and goes to its own host alone. */
const hostsOf = (type: DestinationType, { fields }: DestinationConfig): (string | undefined)[] =>
  DESTINATION_TYPES[type].flatMap(({ name, kind }) => {
    const value = fields[name]
    if (kind === 'label') return [value]
    if (kind !== 'url' && kind !== 'host') return []
    return [
      value === undefined ? value : new URL(/^https?:\/\//i.test(value) ? value : `https://${value}`).origin,
    ]
  })

const placeOf = (name: string): string => `config.${name.replace(/[\p{C}\p{Z}]/gu, ' ').slice(0, 64)}`

/** Null removes an optional value and restores a default. */
function readField(
  type: DestinationType,
  field: ConfigField,
  given: unknown,
  allow: OutboundAllow,
  stored: string | undefined,
): string | undefined {
  const path = placeOf(field.name)
  if (given === undefined && stored !== undefined) return stored
  if (given === undefined || given === null) {
    if (field.default !== undefined || field.isOptional === true) return field.default
    throw badRequest(`is missing: a destination of the type ${type} needs it`, path)
  }
  if (typeof given !== 'string' || given.trim() === '' || given.length > MOST_CHARACTERS) {
    throw badRequest(`must be a text of 1 to ${MOST_CHARACTERS} characters`, path)
  }
  if (field.isSecret === true && MASKED.test(given)) return unmasked(given, stored, path)
  checkValue(field, given.trim(), allow, path)
  return given.trim()
}

function checkValue(
  { kind, choices, check }: ConfigField,
  value: string,
  allow: OutboundAllow,
  path: string,
): void {
  if (choices !== undefined && !choices.includes(value)) {
    throw badRequest(`must be one of ${choices.join(', ')}`, path)
  }
  if (/[\x00-\x1f\x7f]/.test(value)) throw badRequest('must not hold control characters', path)
  if (kind === 'url') checkUrl(value, allow, path)
  if (kind === 'host') checkUrl(/^https?:\/\//i.test(value) ? value : `https://${value}`, allow, path)
  if (kind === 'dsn') {
    const parts = /^(https?:\/\/)[^/@?#]+@(.+)$/i.exec(value)
    if (parts === null) throw badRequest('must be a DSN such as https://KEY@o1.ingest.sentry.io/2', path)
    checkUrl(`${parts[1]}${parts[2]}`, allow, path)
  }
  if (kind === 'label' && !LABEL.test(value)) {
    throw badRequest('must be the name of an account: letters, digits, ".", "_" and "-"', path)
  }
  const fault = check?.(value) ?? null
  if (fault !== null) throw badRequest(fault, path)
}

/** A masked form means the stored secret; that of another secret is rejected. */
function unmasked(given: string, stored: string | undefined, path: string): string {
  if (stored !== undefined && mask(stored) === given) return stored
  throw badRequest(
    'this is the masked form of a secret: send the complete secret, or leave the field out',
    path,
  )
}

function readHeaders(given: unknown, stored: DestinationConfig['headers']): DestinationConfig['headers'] {
  if (given === undefined) return stored
  if (given === null) return null
  if (typeof given !== 'object' || Array.isArray(given))
    throw badRequest('must be a map of texts', 'config.headers')
  const entries = Object.entries(given)
  if (entries.length > MOST_HEADERS)
    throw badRequest(`must have at most ${MOST_HEADERS} entries`, 'config.headers')
  const headers: Record<string, string> = {}
  for (const [name, value] of entries) {
    if (!HEADER_NAME.test(name))
      throw badRequest('contains a name that is not valid for a header', 'config.headers')
    const path = `config.headers.${name}`
    if (OF_THE_CONNECTION.has(name.toLowerCase()))
      throw badRequest('is set by the connection itself: leave it out', path)
    if (typeof value !== 'string' || value.length > MOST_CHARACTERS || !HEADER_VALUE.test(value)) {
      throw badRequest(`must be a text of at most ${MOST_CHARACTERS} visible ASCII characters`, path)
    }
    headers[name] = MASKED.test(value) ? unmasked(value, stored?.[name], path) : value
  }
  return headers
}

function checkEncoding(headers: DestinationConfig['headers']): void {
  const [name, value] =
    Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === ENCODING_HEADER) ?? []
  if (value === undefined || value === 'json' || value === 'protobuf') return
  throw badRequest('must be json or protobuf', `config.headers.${name}`)
}
