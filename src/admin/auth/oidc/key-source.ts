import type { JSONWebKeySet } from 'jose'
import type { JsonObject } from '../../../core/events.ts'
import { isJsonObject } from '../../../http/json.ts'
import { unproven } from './failure.ts'

const KEYS_MS = 3_600_000
/** A token with a key that is unknown makes us look again, this often at most. */
const LOOK_AGAIN_MS = 30_000

export interface KeySource {
  /** `fresh`: not those that are known already, where enough time has passed. Null: there is nothing newer. */
  keys(fresh: boolean): Promise<JSONWebKeySet | null>
}

/** The provider's keys, kept for an hour; rotated ones are found when a token names one. */
export function createKeySource(load: () => Promise<JsonObject>, now: () => number): KeySource {
  let known: { keys: JSONWebKeySet; at: number } | null = null
  return {
    async keys(fresh) {
      const age = known === null ? Number.POSITIVE_INFINITY : now() - known.at
      if (known !== null && !fresh && age < KEYS_MS) return known.keys
      if (known !== null && fresh && age < LOOK_AGAIN_MS) return null
      const keys = keySetOf(await load())
      known = { keys, at: now() }
      return keys
    },
  }
}

function keySetOf({ keys }: JsonObject): JSONWebKeySet {
  if (!Array.isArray(keys)) throw unproven('the key set of the identity provider has no keys')
  return {
    keys: keys.flatMap((key: unknown) =>
      isJsonObject(key) && typeof key['kty'] === 'string' ? [{ ...key, kty: key['kty'] }] : [],
    ),
  }
}
