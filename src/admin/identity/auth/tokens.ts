/** Random tokens of links and sessions: shown once, stored as their hash. */

/** 32 random bytes, base64url. */
export const newToken = (): string =>
  crypto.getRandomValues(new Uint8Array(32)).toBase64({ alphabet: 'base64url', omitPadding: true })

/** SHA-256, lower-case hex. A token has 256 random bits: a fast hash is enough, and it can be looked up. */
export const hashToken = (token: string): string => Bun.SHA256.hash(token, 'hex')
