import type { Attempt } from '../../../src/core/attempt.ts'
import type { EndpointRecord } from '../../../src/core/snapshot.ts'
import { attemptFor } from '../attempt.ts'

/** An attempt at a model of this name; `facts`: what the endpoint supports. */
export const attemptOf = (
  upstreamId = 'claude-sonnet-4-5',
  facts: Partial<EndpointRecord> = {},
  outputBound?: number,
): Attempt => attemptFor('messages', { endpoint: { upstreamId, ...facts }, outputBound })
