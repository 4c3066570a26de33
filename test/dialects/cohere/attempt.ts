import type { Attempt } from '../../../src/core/attempt.ts'
import type { EndpointRecord } from '../../../src/core/snapshot.ts'
import { attemptFor } from '../attempt.ts'

/** An attempt at a model of Cohere; `facts`: what the endpoint supports. */
export const attemptOf = (facts: Partial<EndpointRecord> = {}, outputBound?: number): Attempt =>
  attemptFor('cohere', { endpoint: { upstreamId: 'command-a', ...facts }, outputBound })
