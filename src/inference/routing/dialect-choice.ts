import type { DialectName } from '../../core/events.ts'
import type { RoutedRequest } from '../../core/request.ts'
import type { EndpointRecord, ProviderRecord } from '../../core/snapshot.ts'
import { isNativeSearch } from '../../dialects/native-search.ts'
import { isKnownToReason } from '../../dialects/responses/build-reasoning.ts'
import { dialectsOf } from './endpoint-dialects.ts'
import type { RequestFeatures } from './plan-input.ts'

interface Choosing {
  readonly request: RoutedRequest & RequestFeatures
  refusal?(dialect: DialectName, endpoint: EndpointRecord, provider: ProviderRecord): string | null
}

/**
 * The dialect in which an endpoint is called: the caller's if the endpoint speaks it, else the endpoint's first. A chat
 * request is sent as Responses if that preserves the model's reasoning between turns (`prefersResponses`), or if the model is
 * to search the web by the provider's own tool. A request
 * other than a conversation is sent in the endpoint's first dialect that supports it.
 */
export function dialectFor(
  { request, refusal }: Choosing,
  provider: ProviderRecord,
  endpoint: EndpointRecord,
): DialectName {
  // Most endpoints have one dialect, so there is nothing to choose.
  if (endpoint.dialects === undefined && provider.alsoSpeaks === undefined) return provider.dialect
  const dialects = dialectsOf(provider, endpoint)
  const [first] = dialects
  if (refusal) return dialects.find((dialect) => refusal(dialect, endpoint, provider) === null) ?? first
  const { dialect } = request
  const usual = dialect !== null && dialects.includes(dialect) ? dialect : first
  if (usual !== 'chat' || !dialects.includes('responses')) return usual
  if (request.tools?.some(isNativeSearch)) return 'responses'
  return prefersResponses(request, provider, endpoint) ? 'responses' : usual
}

/**
 * OpenAI's reasoning models since gpt-5.4 reject tools on chat completions unless reasoning is disabled
 * (openai/openai-openapi#541, BerriAI/litellm#34569; 2026), and chat completions do not replay reasoning. Reasoning
 * models are therefore called through Responses, except
 * - if the provider's chat completions replay reasoning, or its settings route the model to chat;
 * - for audio output, which Responses does not support;
 * - for parameters that Responses does not support. They are dropped and reported if chat would reject the request.
 */
function prefersResponses(
  request: RoutedRequest & RequestFeatures,
  { quirks }: ProviderRecord,
  endpoint: EndpointRecord,
): boolean {
  if (request.sampling === undefined || !isKnownToReason(endpoint)) return false
  if (quirks.chatModels?.test(endpoint.upstreamId)) return false
  const { thoughtsField, thinkingParts } = quirks.chat ?? {}
  if (quirks.reasoningField === 'reasoning' || thoughtsField !== undefined || thinkingParts) return false
  if (request.modalities?.includes('audio')) return false
  const { tools = [], reasoning } = request
  const isOff = reasoning?.effort === 'none' || reasoning?.enabled === false
  return (tools.length > 0 && !isOff) || !needsChat(request, endpoint)
}

/** True if the request has a parameter that this model accepts on chat completions and Responses does not support. */
function needsChat(
  { sampling = {}, choiceCount = 1, body }: RoutedRequest & RequestFeatures,
  { supportedParameters }: EndpointRecord,
): boolean {
  const isSet: Readonly<Record<string, boolean>> = {
    seed: sampling.seed !== undefined,
    stop: sampling.stop !== undefined,
    logit_bias: sampling.logitBias !== undefined,
    frequency_penalty: Boolean(sampling.frequencyPenalty),
    presence_penalty: Boolean(sampling.presencePenalty),
    prediction: body['prediction'] !== undefined && body['prediction'] !== null,
  }
  const isSupported = (name: string): boolean =>
    supportedParameters === null || supportedParameters.includes(name)
  return choiceCount > 1 || Object.keys(isSet).some((name) => isSet[name] && isSupported(name))
}
