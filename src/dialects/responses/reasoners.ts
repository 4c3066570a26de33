import type { EndpointRecord } from '../../core/snapshot.ts'

const PARAMETERS = ['reasoning', 'reasoning_effort', 'include_reasoning'] as const

/** False only if the endpoint's parameters are known and none of them is about reasoning. */
export const mayReason = ({ supportedParameters }: EndpointRecord): boolean =>
  supportedParameters === null || PARAMETERS.some((name) => supportedParameters.includes(name))

/**
 * True if the catalogue or the operator says that the model reasons, or its name does: OpenAI's own names are known,
 * for entries that describe their models no further. `gpt-5-chat-latest` does not reason.
 */
export const isKnownToReason = (endpoint: EndpointRecord): boolean =>
  mayReason(endpoint) &&
  (endpoint.supportedParameters !== null ||
    endpoint.reasoning !== undefined ||
    REASONERS.test(endpoint.upstreamId))

const REASONERS = /(?:^|[/.])(?:o[134](?![a-z])|gpt-[5-9](?!.*chat)|codex)/
