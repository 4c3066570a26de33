import type { Attempt } from '../../src/core/attempt.ts'
import type { DialectName } from '../../src/core/events.ts'
import type { EndpointRecord, ProviderRecord } from '../../src/core/snapshot.ts'

interface Parts {
  endpoint?: Partial<EndpointRecord>
  provider?: Partial<ProviderRecord>
  outputBound?: number | undefined
}

/** An attempt in a dialect at an endpoint; `parts` has its known facts. */
export function attemptFor(dialect: DialectName, parts: Parts = {}): Attempt {
  const endpoint: EndpointRecord = {
    id: 'lab/model',
    providerSlug: 'lab',
    modelId: 'lab/model',
    upstreamId: 'model',
    contextLength: null,
    maxCompletionTokens: null,
    inputModalities: [],
    outputModalities: [],
    supportedParameters: null,
    pricing: null,
    quantization: null,
    isZdr: false,
    ...parts.endpoint,
  }
  const credential = { id: 'lab', secret: null }
  const { modelId: id } = endpoint
  return {
    model: { id, canonicalSlug: id, name: 'Model', created: 0, endpoints: [endpoint] },
    endpoint,
    provider: {
      slug: 'lab',
      name: 'Lab',
      kind: 'compatible',
      dialect,
      baseUrl: 'https://api.lab.example/v1',
      credentials: [credential],
      timeouts: { firstByteMs: 1, betweenBytesMs: 1, totalMs: 1 },
      maxInFlight: 1,
      quirks: {},
      isLocal: false,
      ...parts.provider,
    },
    credential,
    dialect,
    ...(parts.outputBound === undefined ? {} : { outputBound: parts.outputBound }),
  }
}
