import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose'
import type { JsonObject } from '../../../core/events.ts'
import { unproven } from './failure.ts'
import type { KeySource } from './key-source.ts'

/** Signatures that only the provider can make: never `none`, never one by a secret that is shared. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]
/** Clocks differ. */
const TOLERANCE_SECONDS = 60

export interface Expected {
  issuer: string
  audience: string
  nonce: string
  /** Milliseconds since 1970. */
  now: number
}

/**
 * The claims of an ID token that is signed by a key of the provider, for us, now, and for this sign-in (OIDC Core
 * 3.1.3.7). Throws a `GatewayError` 401 for any other.
 */
export async function verifyIdToken(
  token: string,
  source: KeySource,
  expected: Expected,
): Promise<JsonObject> {
  const payload = await verified(token, source, expected)
  const { aud, azp, nonce } = payload
  if (nonce !== expected.nonce) throw unproven('the nonce is of another sign-in')
  if (Array.isArray(aud) && aud.length > 1 && azp === undefined)
    throw unproven('the token is for several, and does not say for whom it was made')
  if (azp !== undefined && azp !== expected.audience) throw unproven('the token was made for another client')
  if (typeof payload.sub !== 'string' || payload.sub === '') throw unproven('the token names no subject')
  return { ...payload }
}

async function verified(token: string, source: KeySource, expected: Expected): Promise<JWTPayload> {
  const check = async (keys: JSONWebKeySet): Promise<JWTPayload> => {
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys), {
      issuer: expected.issuer,
      audience: expected.audience,
      algorithms: ALGORITHMS,
      clockTolerance: TOLERANCE_SECONDS,
      currentDate: new Date(expected.now),
      requiredClaims: ['exp', 'iat', 'sub'],
    })
    return payload
  }
  const keys = await source.keys(false)
  try {
    return await check(keys ?? { keys: [] })
  } catch (error) {
    const newer = isOfUnknownKey(error) ? await source.keys(true) : null
    if (newer === null) throw refused(error)
    return await check(newer).catch((again: unknown) => {
      throw refused(again)
    })
  }
}

const isOfUnknownKey = (error: unknown): boolean => error instanceof errors.JWKSNoMatchingKey

/** The library's messages name the check that failed, and repeat nothing of the token. */
const refused = (error: unknown): Error =>
  unproven(
    error instanceof errors.JOSEError ? `${error.code}: ${error.message}` : 'the ID token cannot be read',
  )
