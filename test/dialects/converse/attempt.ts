import type { Attempt } from '../../../src/core/attempt.ts'
import type { EndpointRecord } from '../../../src/core/snapshot.ts'
import { attemptFor } from '../attempt.ts'

/** An attempt at a model of this name; `facts`: what the endpoint supports. */
export const attemptOf = (
  upstreamId = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  facts: Partial<EndpointRecord> = {},
  outputBound?: number,
): Attempt =>
  attemptFor('converse', {
    endpoint: { upstreamId, ...facts },
    provider: { kind: 'bedrock', baseUrl: 'https://bedrock-runtime.us-east-1.amazonaws.com' },
    outputBound,
  })
