import type { JsonObject } from '../core/events.ts'
import { isDeeperThan } from '../http/body.ts'
import { isObject } from './values.ts'

/**
 * What clients of a dialect carry for us: pieces of other dialects, in the opaque strings that the clients replay
 * unchanged (`encrypted_content` of Responses, `signature` of Messages), so that the next turn has the pieces again.
 * The number is the version of the form: JSON, base64url.
 */
const PREFIX = 'sluice.v1.'
const MAX_DEPTH = 16

export const seal = (value: JsonObject): string =>
  PREFIX + Buffer.from(JSON.stringify(value)).toString('base64url')

/** True for strings of `seal`: they mean nothing to a provider. */
export const isSealed = (text: unknown): text is string => typeof text === 'string' && text.startsWith(PREFIX)

/** The inverse of `seal`; undefined where the client changed it. */
export function unseal(text: string): JsonObject | undefined {
  const bytes = Buffer.from(text.slice(PREFIX.length), 'base64url')
  if (isDeeperThan(bytes, MAX_DEPTH)) return undefined
  try {
    const value: unknown = JSON.parse(bytes.toString())
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
