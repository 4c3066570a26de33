import type { Sealer } from '../../db/seal.ts'
import type { Upstream } from '../../net/upstream.ts'
import type { ProviderDefaults } from '../../providers/environment.ts'
import type { ChangeDeps } from '../change.ts'

export interface ProviderDeps extends ChangeDeps {
  sealer: Sealer
  providers: {
    readonly defaults: ProviderDefaults
    /** Routes the next request by the stored providers as they are now. `replaced`: the id of a credential with another secret. */
    reload(replaced?: string): void
    /** Where the provider in use with this slug was configured; null: no provider has it. */
    originOf(slug: string): 'settings' | 'environment' | 'stored' | 'found' | 'built-in' | null
  }
  /** The way out to providers. */
  run: { readonly upstream: Upstream }
}
