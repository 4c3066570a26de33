/** Secrets of providers, as the hot path needs them. */

export interface CredentialRecord {
  /** Stable name for health and records, never the secret. */
  readonly id: string
  /** The secret itself; null for a keyless server, and where keys sign in its place. */
  readonly secret: string | null
  /** Its share of the requests among the credentials of its provider; absent: they are tried in order. */
  readonly weight?: number
  /** Keys that sign each call (AWS Signature Version 4) and are never sent. */
  readonly aws?: AwsKeys
  /** A client of Microsoft Entra, which gets tokens and is never shown itself. */
  readonly entra?: EntraClient
  /** The same of Google Cloud. */
  readonly google?: GoogleAccount
}

export interface EntraClient {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scope: string
}

export type GoogleAccount =
  | {
      readonly type: 'service_account'
      readonly clientEmail: string
      /** PEM, PKCS #8. */
      readonly privateKey: string
      readonly keyId?: string
      readonly tokenUrl: string
    }
  | {
      readonly type: 'authorized_user'
      readonly clientId: string
      readonly clientSecret: string
      readonly refreshToken: string
      readonly tokenUrl: string
    }

export interface AwsKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}
