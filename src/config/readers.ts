import ipaddr from 'ipaddr.js'
import { isKeyPlausible } from '../core/keys.ts'
import { type Price, parsePrice } from '../core/money.ts'
import { withoutTrailing } from '../core/trailing.ts'

/**
 * Parses the value of a flag, a variable or the file. Throws a `RangeError` whose message completes the sentence
 * "SLUICE_X …". Readers of secrets never repeat the value.
 */
export type Read<T> = (raw: unknown) => T

const shown = (raw: unknown): string => {
  const text = JSON.stringify(raw) ?? String(raw)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

const wrong = (must: string, raw: unknown): RangeError => new RangeError(`must be ${must}, not ${shown(raw)}`)

export const text =
  (must: string, isValid: (value: string) => boolean): Read<string> =>
  (raw) => {
    const value = typeof raw === 'number' ? String(raw) : raw
    if (typeof value !== 'string' || !isValid(value.trim())) throw wrong(must, raw)
    return value.trim()
  }

export const wholeNumber =
  (minimum: number, maximum: number, unit = ''): Read<number> =>
  (raw) => {
    const value = typeof raw === 'string' && /^\d{1,15}$/.test(raw.trim()) ? Number(raw) : raw
    if (typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum)
      return value
    throw wrong(`a whole number${unit === '' ? '' : ` of ${unit}`} from ${minimum} to ${maximum}`, raw)
  }

/** A number from 0 to 1. */
export const share: Read<number> = (raw) => {
  const value = typeof raw === 'string' && /^\d(?:\.\d{1,15})?$/.test(raw.trim()) ? Number(raw) : raw
  if (typeof value === 'number' && value >= 0 && value <= 1) return value
  throw wrong('a number from 0 to 1', raw)
}

export const oneOf =
  <T extends string>(...choices: readonly T[]): Read<T> =>
  (raw) => {
    const found = choices.find((choice) => typeof raw === 'string' && choice === raw.trim().toLowerCase())
    if (found === undefined) throw wrong(`one of ${choices.join(', ')}`, raw)
    return found
  }

/** YAML 1.2 leaves `off` a string, but people also write `false`. */
export const onOff: Read<boolean> = (raw) => {
  const word = typeof raw === 'string' ? raw.trim().toLowerCase() : raw
  if (word === true || word === 'on' || word === 'true' || word === '1' || word === 1) return true
  if (word === false || word === 'off' || word === 'false' || word === '0' || word === 0) return false
  throw wrong('on or off', raw)
}

/** A comma-separated string, or a list in the file. */
export const listOf =
  (must: string, normalise: (entry: string) => string | null): Read<readonly string[]> =>
  (raw) => {
    const parts = typeof raw === 'string' ? raw.split(',') : raw
    if (!Array.isArray(parts)) throw wrong(`a list of ${must}`, raw)
    return parts
      .map((part: unknown) => (typeof part === 'string' ? part.trim() : part))
      .filter((part) => part !== '')
      .map((part) => {
        const entry = typeof part === 'string' ? normalise(part) : null
        if (entry === null) throw new RangeError(`must be a list of ${must}; ${shown(part)} is not one`)
        return entry
      })
  }

/** `10.0.0.0/8`, `2001:db8::/32`, or one address (which becomes a range of itself); null for anything else. */
export function addressRange(entry: string): string | null {
  if (ipaddr.isValidCIDR(entry)) return entry
  if (ipaddr.IPv4.isValidFourPartDecimal(entry)) return `${entry}/32`
  return ipaddr.IPv6.isValid(entry) ? `${entry}/128` : null
}

const hostNamePattern =
  /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?)*\.?$/i
const looksNumeric = /^[\d.]+$/

const isHostName = (name: string): boolean => hostNamePattern.test(name) && !looksNumeric.test(name)

/** A name, an address or a range; `*.example.org` matches the names below `example.org`. */
export const hostOrRange = (entry: string): string | null =>
  addressRange(entry) ?? (isHostName(entry.replace(/^\*\./, '')) ? entry.toLowerCase() : null)

/** An origin as in the header `Origin`, or `*`. Desktop apps have their own schemes (`app://obsidian.md`). */
export function webOrigin(entry: string): string | null {
  if (entry === '*') return entry
  const origin = entry.toLowerCase().replace(/\/$/, '')
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s*]+$/.test(origin)) return null
  const url = URL.parse(origin)
  if (url === null) return null
  // Without the scheme's default port.
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.origin : origin
}

/** An address or name to listen on; IPv6 with or without brackets, returned without. */
export const listenHost: Read<string> = (raw) => {
  const host = typeof raw === 'string' ? raw.trim().replace(/^\[(.*)\]$/, '$1') : ''
  if (ipaddr.IPv4.isValidFourPartDecimal(host) || ipaddr.IPv6.isValid(host) || isHostName(host)) return host
  throw wrong('an IP address or a host name', raw)
}

/** True if only this machine can reach a server that listens on `host`. */
export function isLoopback(host: string): boolean {
  if (host.toLowerCase() === 'localhost') return true
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback'
}

export const webAddress: Read<string> = (raw) => {
  const url = typeof raw === 'string' ? URL.parse(raw.trim()) : null
  const isPlain =
    url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (!isPlain || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    // A URL may carry a password: it is not repeated.
    throw new RangeError(
      'must be an http or https address without user, query or fragment, such as https://ai.example.org',
    )
  }
  return withoutTrailing(url.href, '/')
}

/** `''` for the root, else `/a/b` without a trailing slash. */
export const pathPrefix: Read<string> = (raw) => {
  const path = typeof raw === 'string' ? withoutTrailing(raw.trim(), '/') : null
  const segments = path?.split('/').slice(1) ?? []
  const isPlain = segments.every((part) => /^[A-Za-z0-9._~-]+$/.test(part) && part !== '.' && part !== '..')
  if (path === '' || (path?.startsWith('/') && isPlain)) return path
  throw wrong(
    'a path such as /sluice: a slash, then letters, digits, dots, hyphens, underscores or tildes',
    raw,
  )
}

/** 32 bytes. */
export const secretKey: Read<Uint8Array> = (raw) => {
  const value = typeof raw === 'string' ? raw.trim() : ''
  if (/^[0-9a-f]{64}$/i.test(value)) return Uint8Array.from(Buffer.from(value, 'hex'))
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(value)) return Uint8Array.from(Buffer.from(value, 'base64'))
  throw new RangeError(
    'must be 32 random bytes as 64 hex digits or as base64; `openssl rand -hex 32` makes one',
  )
}

export const bootstrapKey: Read<string> = (raw) => {
  if (typeof raw === 'string' && /^[\x21-\x7e]{32,512}$/.test(raw)) {
    // It would never be accepted: the checksum of callers' keys is checked before any lookup.
    if (!isKeyPlausible(raw))
      throw new RangeError('has the form of a key of Sluice, but its checksum is wrong: is it mistyped?')
    return raw
  }
  throw new RangeError(
    'must be 32 to 512 visible ASCII characters without spaces; `openssl rand -hex 32` makes one',
  )
}

export const emailAddress: Read<string> = text(
  'an e-mail address',
  (value) => value.length <= 254 && /^[^\s@<>"]+@[^\s@<>"]+$/.test(value),
)

export const password: Read<string> = (raw) => {
  if (typeof raw === 'string' && raw.length >= 12 && raw.length <= 256) return raw
  throw new RangeError('must have 12 to 256 characters')
}

/** The price of models without one, in USD per token, exact. Such models are never silently free. */
export type UnpricedPolicy = 'refuse' | { readonly prompt: Price; readonly completion: Price }

export const unpricedPolicy: Read<UnpricedPolicy> = (raw) => {
  if (raw === 'refuse') return 'refuse'
  const [prompt, completion = prompt, ...rest] =
    typeof raw === 'string' ? raw.split(',') : raw === 0 ? ['0'] : []
  try {
    if (prompt !== undefined && completion !== undefined && rest.length === 0) {
      return { prompt: parsePrice(prompt.trim()), completion: parsePrice(completion.trim()) }
    }
  } catch {
    // The error below lists what is allowed.
  }
  throw wrong(
    'refuse, or USD per token as a quoted decimal ("0.000002"), or two of them for prompt and completion ("0.000001,0.000002")',
    raw,
  )
}

/** A client id, a secret, a name: anything without a space at its ends. Never repeated. */
export const opaque: Read<string> = (raw) => {
  const value = typeof raw === 'string' ? raw.trim() : ''
  if (value !== '' && value.length <= 1000) return value
  throw new RangeError('must be a text of 1 to 1000 characters')
}
