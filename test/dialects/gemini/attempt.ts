import type { Attempt } from '../../../src/core/attempt.ts'
import type { ReasoningFacts } from '../../../src/core/snapshot.ts'
import { attemptFor } from '../attempt.ts'

/** The differences between the endpoints that requests are built for. */
export interface Endpoint {
  reasoning?: ReasoningFacts
  upstreamId?: string
  supportedParameters?: string[] | null
  outputBound?: number
}

export const attemptAt = ({
  upstreamId = 'gemini-2.5-flash',
  supportedParameters = null,
  outputBound,
  reasoning,
}: Endpoint): Attempt =>
  attemptFor('gemini', {
    endpoint: { upstreamId, supportedParameters, ...(reasoning ? { reasoning } : {}) },
    outputBound,
  })
