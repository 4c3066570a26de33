/** Whether an endpoint can be called, as administration and the log report it. */

export type HealthState = 'failing' | 'half_open' | 'rate_limited' | 'refused' | 'unknown_model'

/** An endpoint, with one credential, that is skipped or slowed. Endpoints without an entry are called as usual. */
export interface EndpointHealth {
  readonly endpointId: string
  readonly modelId: string
  readonly providerSlug: string
  readonly providerName: string
  /** The stable name of the credential, never the secret. */
  readonly credentialId: string
  /** The BYOK key's id; null: the gateway's credential. */
  readonly byokKeyId: string | null
  readonly state: HealthState
  /** A sentence for operators, without the provider's own text. */
  readonly cause: string
  /** Milliseconds since 1970. */
  readonly since: number
  /** When a request may call it although others are well, in milliseconds since 1970. */
  readonly nextProbeAt: number
  /** Of the last 30 seconds. */
  readonly failures: number
  readonly successes: number
}

/** For the log: an endpoint, a credential or a host is skipped from now on, or is called again. */
export interface HealthChange {
  readonly isWell: boolean
  /** A sentence for operators. */
  readonly message: string
  readonly endpointId: string
  readonly providerSlug: string
  readonly credentialId: string
}
