import type { Attempt } from '../../../src/core/attempt.ts'
import type { ReasoningFacts } from '../../../src/core/snapshot.ts'

/** What differs between the endpoints that requests are written for. */
export interface Endpoint {
  reasoning?: ReasoningFacts
  upstreamId?: string
  supportedParameters?: string[] | null
  outputBound?: number
}

export function attemptAt({
  upstreamId = 'gemini-2.5-flash',
  supportedParameters = null,
  outputBound,
  reasoning,
}: Endpoint): Attempt {
  const endpoint = {
    id: 'lab/m',
    providerSlug: 'lab',
    modelId: 'm',
    upstreamId,
    contextLength: null,
    maxCompletionTokens: null,
    inputModalities: [],
    outputModalities: [],
    supportedParameters,
    pricing: null,
    quantization: null,
    isZdr: false,
    ...(reasoning ? { reasoning } : {}),
  }
  const credential = { id: 'lab', secret: null }
  return {
    model: { id: 'm', canonicalSlug: 'm', name: 'm', created: 0, endpoints: [endpoint] },
    endpoint,
    provider: {
      slug: 'lab',
      name: 'Lab',
      kind: 'compatible',
      dialect: 'gemini',
      baseUrl: 'http://127.0.0.1:1',
      credentials: [credential],
      timeouts: { firstByteMs: 1, betweenBytesMs: 1, totalMs: 1 },
      maxInFlight: 1,
      quirks: {},
      isLocal: true,
    },
    credential,
    dialect: 'gemini',
    ...(outputBound === undefined ? {} : { outputBound }),
  }
}
