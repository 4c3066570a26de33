import type { Attempt } from '../../../src/core/attempt.ts'
import type { EndpointRecord, ProviderQuirks } from '../../../src/core/snapshot.ts'
import { attemptFor } from '../attempt.ts'

/** An attempt at a model of this name; `facts`: what the endpoint supports. */
export const attemptOf = (
  upstreamId = 'tide-1',
  facts: Partial<EndpointRecord> = {},
  { quirks = {}, outputBound }: { quirks?: ProviderQuirks; outputBound?: number } = {},
): Attempt =>
  attemptFor('responses', { endpoint: { upstreamId, ...facts }, provider: { quirks }, outputBound })

/** A model that always reasons. */
export const REASONER: Attempt = attemptOf('gpt-5', {
  supportedParameters: ['reasoning', 'reasoning_effort', 'tools'],
  reasoning: { efforts: ['low', 'medium', 'high'], takesBudget: false, mayBeOff: false },
})

/** A model that does not reason. */
export const PLAIN: Attempt = attemptOf('gpt-4.1', { supportedParameters: ['temperature', 'tools'] })
