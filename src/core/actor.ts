/** The author and origin of a change, for the audit log. */
export interface Actor {
  readonly type: 'key' | 'user' | 'system'
  /** A key's hash, a user's id, or what of the system it is (`first-run`). */
  readonly id: string
  /** The key's masked label, or the person's name. */
  readonly label: string
  /** The person on whose behalf: a key acts for its creator. */
  readonly userId: string
  readonly requestId: string | null
  /** The client's address; null where it is not known. */
  readonly address: string | null
  readonly userAgent: string | null
  /** Claim of the request's `Idempotency-Key`, written in the transaction of the change. */
  readonly claim?: IdempotencyClaim
}

export interface IdempotencyClaim {
  /** The actor's id. */
  readonly callerId: string
  readonly key: string
  /** SHA-256 of method, path and body, in hex. */
  readonly fingerprint: string
}
