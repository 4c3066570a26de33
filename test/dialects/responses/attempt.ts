import type { Attempt } from '../../../src/core/attempt.ts'
import type { EndpointRecord, ProviderQuirks } from '../../../src/core/snapshot.ts'
import { attemptFor } from '../attempt.ts'

/** An attempt at a model of this name; what the endpoint is known to take as `facts` say. */
export const attemptOf = (
  upstreamId = 'tide-1',
  facts: Partial<EndpointRecord> = {},
  { quirks = {}, outputBound }: { quirks?: ProviderQuirks; outputBound?: number } = {},
): Attempt =>
  attemptFor('responses', { endpoint: { upstreamId, ...facts }, provider: { quirks }, outputBound })
