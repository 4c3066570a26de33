import type { Attempt } from '../../../src/core/attempt.ts'
import type { EndpointRecord } from '../../../src/core/snapshot.ts'

/** An attempt at a model of this name; what the endpoint is known to take as `facts` say. */
export function attemptOf(
  upstreamId = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  facts: Partial<EndpointRecord> = {},
  outputBound?: number,
): Attempt {
  const endpoint: EndpointRecord = {
    id: 'lab/model',
    providerSlug: 'lab',
    modelId: facts.modelId ?? 'lab/model',
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
  const { modelId: id } = endpoint
  return {
    model: { id, canonicalSlug: id, name: 'Model', created: 0, endpoints: [endpoint] },
    endpoint,
    provider: {
      slug: 'lab',
      name: 'Lab',
      kind: 'bedrock',
      dialect: 'converse',
      baseUrl: 'https://bedrock-runtime.us-east-1.amazonaws.com',
      credentials: [credential],
      timeouts: { firstByteMs: 1, betweenBytesMs: 1, totalMs: 1 },
      maxInFlight: 1,
      quirks: {},
      isLocal: false,
    },
    credential,
    dialect: 'converse',
    ...(outputBound === undefined ? {} : { outputBound }),
  }
}
