import type { Attempt } from '../../../src/core/attempt.ts'
import type { EndpointRecord, ProviderQuirks } from '../../../src/core/snapshot.ts'

/** An attempt at a model of this name; what the endpoint is known to take as `facts` say. */
export function attemptOf(
  upstreamId = 'tide-1',
  facts: Partial<EndpointRecord> = {},
  { quirks = {}, outputBound }: { quirks?: ProviderQuirks; outputBound?: number } = {},
): Attempt {
  const endpoint: EndpointRecord = {
    id: 'lab/model',
    providerSlug: 'lab',
    modelId: 'lab/model',
    upstreamId,
    contextLength: null,
    maxCompletionTokens: null,
    inputModalities: [],
    outputModalities: [],
    supportedParameters: null,
    pricing: null,
    quantization: null,
    isZdr: false,
    ...facts,
  }
  const credential = { id: 'lab', secret: null }
  return {
    model: { id: 'lab/model', canonicalSlug: 'lab/model', name: 'Model', created: 0, endpoints: [endpoint] },
    endpoint,
    provider: {
      slug: 'lab',
      name: 'Lab',
      kind: 'compatible',
      dialect: 'responses',
      baseUrl: 'https://api.lab.example/v1',
      credentials: [credential],
      timeouts: { firstByteMs: 1, betweenBytesMs: 1, totalMs: 1 },
      maxInFlight: 1,
      quirks,
      isLocal: false,
    },
    credential,
    dialect: 'responses',
    ...(outputBound === undefined ? {} : { outputBound }),
  }
}
