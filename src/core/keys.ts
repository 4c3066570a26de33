import type { KeyRecord } from './snapshot.ts'

export type KeyKind = KeyRecord['kind']

const PREFIXES: Readonly<Record<KeyKind, string>> = {
  inference: 'sk-sl-v1-',
  management: 'sk-sl-mgmt-v1-',
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 62^43 is the first power above 2^256. */
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6
const MADE = /^(?:sk-sl-v1-|sk-sl-mgmt-v1-)[0-9A-Za-z]{49}$/
/** What any key must look like, also one that the operator chose: visible ASCII, at least 32 characters. */
const PLAUSIBLE = /^[\x21-\x7e]{32,512}$/
/** As many characters of the secret as a label shows at either end. */
const SHOWN = 3

/** A new key: prefix, 32 random bytes in base62 (43 characters), and a checksum of all before it (6 characters). */
export function newKey(kind: KeyKind): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  const secret = base62(BigInt(`0x${bytes.toHex()}`), SECRET_LENGTH)
  return withChecksum(PREFIXES[kind] + secret)
}

/**
 * Whether `key` can be a key at all, before anything is looked up. The checksum is tested on keys of the form that
 * `newKey` makes (so a mistyped one never reaches a look-up); keys that the operator chose have none.
 */
export function isKeyPlausible(key: string): boolean {
  return MADE.test(key) ? hasItsChecksum(key) : PLAUSIBLE.test(key)
}

/** SHA-256 of the complete key, lower-case hex: keys are stored, found and named by it. */
export const hashKey = (key: string): string => Bun.SHA256.hash(key, 'hex')

/** The masked form: prefix and 3 characters, `...`, the last 3. */
export function labelOf(key: string): string {
  const prefix = key.startsWith(PREFIXES.management)
    ? PREFIXES.management
    : key.startsWith(PREFIXES.inference)
      ? PREFIXES.inference
      : ''
  return `${key.slice(0, prefix.length + SHOWN)}...${key.slice(-SHOWN)}`
}

const withChecksum = (head: string): string => head + checksumOf(Bun.hash.crc32(head))

/** Beside `base62`, because 32 bits need no big integers. */
function checksumOf(crc: number): string {
  let text = ''
  for (let rest = crc; text.length < CHECKSUM_LENGTH; rest = Math.floor(rest / 62)) {
    text = BASE62.charAt(rest % 62) + text
  }
  return text
}

/** Digit by digit from the end: every request has its key tested, so that no text is made for it. */
function hasItsChecksum(key: string): boolean {
  const start = key.length - CHECKSUM_LENGTH
  let rest = Bun.hash.crc32(key.slice(0, start))
  for (let at = key.length - 1; at >= start; at--) {
    if (BASE62.charCodeAt(rest % 62) !== key.charCodeAt(at)) return false
    rest = Math.floor(rest / 62)
  }
  return true
}

function base62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; rest > 0n; rest /= 62n) text = BASE62.charAt(Number(rest % 62n)) + text
  return text.padStart(length, '0')
}
