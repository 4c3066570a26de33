import { isIP } from 'node:net'
import { badRequest } from '../core/errors.ts'
import { words } from '../core/words.ts'
import { checkUrl, hostOf, isPrivateHost, type OutboundAllow, refusedHost } from './address.ts'

/** The place of a string in a request. */
export interface Place {
  /** True for a field for addresses, where any scheme counts; elsewhere only schemes that programs fetch count. */
  isAddress(): boolean
  /** As in error messages: `messages[0].content[1].image_url.url`. */
  written(): string
}

/**
 * Checks one string of a request as the most lenient URL parser would interpret it. Parsers drop blanks, control and
 * invisible characters at the start, and tabs and line ends anywhere; Python's also drops `<` and `URL:`. Throws a
 * `GatewayError` 400 that names the field, unless the string is content (`data:`, base64), plain text, or a URL that
 * `checkUrl` accepts. Time is linear in the length. Returns the host of a URL if it is a name that no exception covers,
 * since its address is not known here.
 */
export function checkAddress(text: string, place: Place, allow: OutboundAllow): string | null {
  const { scheme, next } = startOf(text)
  if (scheme === 'data') return null
  if (scheme === null) {
    if (!mayLeadAstray(text) || !place.isAddress()) return null
    if (leadsAstray(text)) throw badRequest('must be an https URL or a data URL', place.written())
    const url = schemelessUrl(text)
    return url === null || isBareName(hostOf(url)) ? null : nameOf(hostOf(url), allow)
  }
  if (!FETCHED.has(scheme) && next !== '/' && next !== '\\' && !place.isAddress()) return null
  const host = hostOf(checkedUrl(text, place, allow))
  if (isBareName(host) && !allow.hosts.has(host)) throw refusedHost(place.written())
  return nameOf(host, allow)
}

/** Formats the place only for a rejection: a request can hold 100,000 addresses. */
function checkedUrl(text: string, place: Place, allow: OutboundAllow): URL {
  try {
    return checkUrl(text, allow)
  } catch {
    return checkUrl(text, allow, place.written())
  }
}

/** A name without a dot is one of the local network: a container, a machine of `/etc/hosts`. */
const isBareName = (host: string): boolean => !/[.:]/.test(host)

/** Null for an IP address, and for a name that the operator excepts. */
const nameOf = (host: string, allow: OutboundAllow): string | null =>
  isIP(host) !== 0 || allow.hosts.has(host) ? null : host

/** Schemes that some program fetches, with or without slashes behind the colon. */
const FETCHED = new Set(
  words('http https ws wss ftp ftps sftp file gopher dict tftp ldap ldaps smb url blob jar rtsp rtmp s3 gs'),
)
const LONGEST_SCHEME = 32

interface Start {
  /** In lower case; null without a scheme. */
  scheme: string | null
  /** The character behind the colon. */
  next: string
}

const NO_SCHEME: Start = { scheme: null, next: '' }

/** The scheme, as the most lenient parser reads it. */
function startOf(text: string): Start {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (at < LONGEST_SCHEME && (isAsciiLetter(code) || (at > 0 && isDigitOrSign(code)))) continue
    if (code === COLON && at > 0)
      return { scheme: text.slice(0, at).toLowerCase(), next: visibleFrom(text, at + 1) }
    return isLenient(code) ? lenientStartOf(text) : NO_SCHEME
  }
  return NO_SCHEME
}

const isAsciiLetter = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
const isDigitOrSign = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || code === 0x2b || code === 0x2d || code === 0x2e
/** Characters that some parser drops or replaces: anything but visible ASCII, and `<`. */
const isLenient = (code: number): boolean => code <= 0x20 || code === 0x3c || code > 0x7e

/** The scheme of a text whose start has characters that some parser drops, or reads as ASCII. */
function lenientStartOf(text: string): Start {
  let scheme = ''
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isInvisible(code) || (scheme === '' && isLeading(code))) continue
    // Programs that normalize text read full-width letters and colons as ASCII.
    const ascii = code >= 0xff01 && code <= 0xff5e ? code - 0xfee0 : code
    if (ascii === COLON) return scheme === '' ? NO_SCHEME : { scheme, next: visibleFrom(text, at + 1) }
    const char = String.fromCharCode(ascii).toLowerCase()
    if (scheme.length === LONGEST_SCHEME || !isSchemeCharacter(char, scheme === '')) return NO_SCHEME
    scheme += char
  }
  return NO_SCHEME
}

const COLON = 0x3a
const isSchemeCharacter = (char: string, isFirst: boolean): boolean =>
  (char >= 'a' && char <= 'z') || (!isFirst && ((char >= '0' && char <= '9') || '+.-'.includes(char)))

/** Characters that some parser drops anywhere: controls, soft hyphen, zero-width and direction marks. */
const isInvisible = (code: number): boolean =>
  code < 0x20 ||
  (code >= 0x7f && code <= 0x9f) ||
  code === 0xad ||
  (code >= 0x200b && code <= 0x200f) ||
  (code >= 0x2028 && code <= 0x202e) ||
  (code >= 0x2060 && code <= 0x206f) ||
  code === 0xfeff

/** Dropped at the start: every kind of blank, and the `<` of `<URL:…>`. */
const isLeading = (code: number): boolean =>
  code === 0x20 ||
  code === 0x3c ||
  code === 0xa0 ||
  code === 0x1680 ||
  (code >= 0x2000 && code <= 0x200a) ||
  code === 0x202f ||
  code === 0x205f ||
  code === 0x3000

function visibleFrom(text: string, start: number): string {
  for (let at = start; at < text.length; at++) {
    if (!isInvisible(text.charCodeAt(at))) return text.charAt(at)
  }
  return ''
}

/** A quick check of the first character, which most texts fail. */
function mayLeadAstray(text: string): boolean {
  const code = text.charCodeAt(0)
  return code <= 0x20 || code === 0x2e || code === 0x2f || code === 0x5c || code > 0x7d
}

/** The longest path of Linux, and more than the longest host name. */
const LONGEST_PATH = 4096
const LONGEST_AUTHORITY = 300

/**
 * True for text without a scheme that, in an address field, leads to a file of the provider's machine or, by `//host`, to
 * a private host. Base64 is neither: `/9j/` begins every JPEG, and `//` some recordings.
 */
function leadsAstray(text: string): boolean {
  const url = schemelessUrl(text)
  if (url !== null) return isPrivateHost(url)
  const trimmed = text.slice(0, LONGEST_PATH + 1).trimStart()
  if (/^[/\\]{2}/.test(trimmed)) return false
  if (trimmed.length > LONGEST_PATH || trimmed.startsWith('/9j/')) return false
  return /^(?:[/\\~]|\.{1,2}[/\\])/.test(trimmed)
}

/** `//host/path`, which takes the scheme of its page; null for anything else. */
function schemelessUrl(text: string): URL | null {
  const trimmed = text.slice(0, LONGEST_PATH + 1).trimStart()
  return /^[/\\]{2}/.test(trimmed) ? URL.parse(`http:${trimmed.slice(0, LONGEST_AUTHORITY)}`) : null
}
