import type { Attempt } from '../../core/attempt.ts'
import { type ServiceTier, unreportedTier } from '../../core/pricing.ts'
import type { Admission } from './admit.ts'

const TIER_FIELD = 'service_tier'

/** The service tier to charge if the provider reports none. One that is not sent the field got a request that names none. */
export const tierOf = (
  { provider }: Attempt,
  { requestedTier }: Admission,
  dropped: readonly string[],
): ServiceTier | undefined =>
  unreportedTier(dropped.includes(TIER_FIELD) ? 'unnamed' : requestedTier, provider.quirks.accountTier)
