import type { ProviderKind } from '../core/snapshot.ts'

/** Clouds that are turned on by more than one key: `azure-settings.ts`, `vertex-settings.ts`. */
export interface CloudVendor {
  /** What `provider.only` and records name. */
  readonly slug: string
  readonly kind: ProviderKind
  /** The vendor's name in the models.dev facts. */
  readonly facts: string
}

export const cloudVendors: readonly CloudVendor[] = [
  { slug: 'azure', kind: 'azure', facts: 'azure' },
  { slug: 'google-vertex', kind: 'vertex', facts: 'google-vertex' },
]
