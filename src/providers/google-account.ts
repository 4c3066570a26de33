import { importPKCS8, SignJWT } from 'jose'
import { UpstreamError } from '../core/errors.ts'
import { fieldsOf, parseJson } from '../core/json.ts'
import type { GoogleAccount } from '../core/snapshot.ts'
import type { Outbound, TokenSource } from './provider.ts'
import { type AccessToken, askForToken, createTokenSource } from './token.ts'

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const TOKEN_URL = 'https://oauth2.googleapis.com/token'
const LIFETIME_S = 3_600
/** Clocks differ: a token that was issued in the future is refused. */
const SKEW_S = 30

/** Access tokens for an account of Google Cloud. */
export const googleTokens = (account: GoogleAccount): TokenSource =>
  createTokenSource((outbound) =>
    account.type === 'service_account'
      ? askByAssertion(account, outbound)
      : askForToken(
          account.tokenUrl,
          {
            grant_type: 'refresh_token',
            client_id: account.clientId,
            client_secret: account.clientSecret,
            refresh_token: account.refreshToken,
          },
          outbound,
        ),
  )

type ServiceAccount = Extract<GoogleAccount, { type: 'service_account' }>

/** A JWT (RS256; RFC 7523) that names the account, valid for an hour. */
async function askByAssertion(account: ServiceAccount, outbound: Outbound): Promise<AccessToken> {
  const { clientEmail, tokenUrl, keyId } = account
  const issuedAt = Math.floor(outbound.now() / 1_000) - SKEW_S
  const token = new SignJWT({ scope: SCOPE })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(keyId === undefined ? {} : { kid: keyId }) })
    .setIssuer(clientEmail)
    .setAudience(tokenUrl)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + LIFETIME_S)
  const assertion = await signed(token, account.privateKey)
  const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
  return askForToken(tokenUrl, { grant_type, assertion }, outbound)
}

async function signed(token: SignJWT, pem: string): Promise<string> {
  try {
    return await token.sign(await importPKCS8(PEM.exec(pem)?.[0] ?? '', 'RS256'))
  } catch {
    // The cause may contain parts of the key.
    throw new UpstreamError('credential', 'the private key of the service account cannot sign')
  }
}

const PEM = /-----BEGIN PRIVATE KEY-----[A-Za-z0-9+/=\s]+-----END PRIVATE KEY-----/

/**
 * Reads a credentials file of Google Cloud: a service account's key, or what `gcloud auth application-default login`
 * leaves. The problem completes "<setting> …" and never quotes the text.
 */
export function readGoogleAccount(text: string): { account: GoogleAccount } | { problem: string } {
  const parsed = parseJson(text)
  if (parsed === undefined) {
    return { problem: 'is not JSON: give the key file of a service account as it was downloaded' }
  }
  const { type, token_uri, ...file } = fieldsOf(parsed)
  const tokenUrl = isText(token_uri) ? token_uri : TOKEN_URL
  if (!isTokenUrl(tokenUrl)) return { problem: 'has a token_uri that is not an https URL' }
  if (type === 'service_account') return readServiceAccount(file, tokenUrl)
  if (type === 'authorized_user') return readUser(file, tokenUrl)
  return { problem: 'must be of the type "service_account" or "authorized_user"' }
}

function readServiceAccount(file: Record<string, unknown>, tokenUrl: string) {
  const { client_email, private_key, private_key_id } = file
  if (!isText(client_email) || !isText(private_key) || !PEM.test(private_key)) {
    return { problem: 'lacks client_email, or a private_key in PEM form (BEGIN PRIVATE KEY)' }
  }
  const account: GoogleAccount = {
    type: 'service_account',
    clientEmail: client_email,
    privateKey: private_key,
    ...(isText(private_key_id) ? { keyId: private_key_id } : {}),
    tokenUrl,
  }
  return { account }
}

function readUser(file: Record<string, unknown>, tokenUrl: string) {
  const { client_id, client_secret, refresh_token } = file
  if (!isText(client_id) || !isText(client_secret) || !isText(refresh_token)) {
    return { problem: 'lacks client_id, client_secret or refresh_token' }
  }
  const account: GoogleAccount = {
    type: 'authorized_user',
    clientId: client_id,
    clientSecret: client_secret,
    refreshToken: refresh_token,
    tokenUrl,
  }
  return { account }
}

/** True for https, and for http on this machine: a secret is sent there. */
export function isTokenUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || (protocol === 'http:' && /^(?:127\.|localhost$|\[::1\]$)/.test(hostname))
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
