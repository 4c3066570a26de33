import type { CredentialRecord } from './credential.ts'

/** A BYOK key: a workspace's key of a provider, as the hot path needs it. Disabled ones are left out. */
export interface ByokKey {
  /** The row's id. */
  readonly id: string
  readonly providerSlug: string
  /** Keys are tried in ascending order. */
  readonly sortOrder: number
  /** Null: the stored key cannot be opened. It serves no request, and its restrictions still hold. */
  readonly credential: CredentialRecord | null
  /** Tried after the gateway's credentials, not before them. */
  readonly isFallback: boolean
  /** The gateway's credentials of this provider are not used for the models of this key. */
  readonly isRequired: boolean
  /** The gateway's credentials of this provider are not used for any model. */
  readonly isByokOnly: boolean
  /** Agreed with the provider; null: as the endpoint's record has it. */
  readonly declaredZdr: boolean | null
  /** Lists: null: no restriction. Models by id or canonical slug. */
  readonly allowedKeyHashes: ReadonlySet<string> | null
  readonly allowedModels: ReadonlySet<string> | null
  readonly allowedUserIds: ReadonlySet<string> | null
}
