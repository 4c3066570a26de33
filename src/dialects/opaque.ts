import type { Carrier } from '../core/carrier.ts'
import type { JsonObject } from '../core/events.ts'
import { asObject } from '../core/json.ts'
import { isDeeperThan } from '../core/json-bounds.ts'

/**
 * What clients of a dialect carry for us: pieces of other dialects, in the opaque strings that the clients replay
 * unchanged (`encrypted_content` of Responses, `signature` of Messages), so that the next turn has the pieces again.
 * Toward clients they are sealed by the caller's `Carrier` (`v2`). Before a body is parsed they are opened, which
 * leaves plain JSON in base64url (`v1`): a client's own `v1` is never trusted.
 */
const PREFIX = 'sluice.v'
const OPEN = `${PREFIX}1.`
const SEALED = `${PREFIX}2.`
const MAX_DEPTH = 16
/** Of the JSON text. Some four hundred thousand tokens of reasoning: what is longer is not carried. */
const MOST_CHARACTERS = 2_000_000
/** Base64 of UTF-8 with at most three bytes for a character, and the seal's own bytes. */
const MOST_SEALED_CHARACTERS = MOST_CHARACTERS * 4 + 100

/** Without a carrier the text is open: for readers inside the gateway alone. What is too long is sealed as `{}`. */
export const seal = (value: JsonObject, carrier?: Carrier): string =>
  sealUnlessLong(value, carrier) ?? written('{}', carrier)

export function sealUnlessLong(value: JsonObject, carrier?: Carrier): string | undefined {
  const json = JSON.stringify(value)
  return json.length > MOST_CHARACTERS ? undefined : written(json, carrier)
}

const written = (json: string, carrier: Carrier | undefined): string =>
  carrier ? SEALED + carrier.seal(json) : OPEN + Buffer.from(json).toString('base64url')

/** True for strings of `seal`: they mean nothing to a provider. */
export const isSealed = (text: unknown): text is string => typeof text === 'string' && text.startsWith(PREFIX)

/** A string of `seal` that a client sent, readable for `unseal`; null if it cannot be opened. */
export function opened(text: string, carrier: Carrier): string | null {
  if (!text.startsWith(SEALED) || text.length > MOST_SEALED_CHARACTERS) return null
  const json = carrier.open(text.slice(SEALED.length))
  return json === null ? null : OPEN + Buffer.from(json).toString('base64url')
}

/** The inverse of `seal` without a carrier; undefined for anything else. */
export function unseal(text: string): JsonObject | undefined {
  if (!text.startsWith(OPEN)) return undefined
  const bytes = Buffer.from(text.slice(OPEN.length), 'base64url')
  if (isDeeperThan(bytes, MAX_DEPTH)) return undefined
  try {
    const value: unknown = JSON.parse(bytes.toString())
    return asObject(value)
  } catch {
    return undefined
  }
}
