import type { ExportParameters } from '../../core/export-note.ts'
import { operationNameOf, providerNameOf } from '../../core/gen-ai.ts'
import { usdOf } from '../../core/money.ts'
import type { ExportCost, ExportRecord, ExportTruth } from '../record.ts'
import { type Attributes, prefixed } from './span.ts'

/**
 * Names of the conventions for generative AI as of 1.41 and of their own repository since
 * (github.com/open-telemetry/semantic-conventions-genai, November 2026). What they have no name for begins with `sluice.`.
 */
export function chatAttributes(record: ExportRecord): Attributes {
  const { provider, usage, trace } = record
  return {
    'gen_ai.operation.name': operationNameOf(record.apiType),
    'gen_ai.provider.name': providerNameOf(provider.slug),
    'gen_ai.request.model': record.requestedModel,
    ...parameterAttributes(record.parameters),
    'gen_ai.request.stream': record.streamed,
    'gen_ai.response.id': record.upstreamId,
    'gen_ai.response.model': record.model,
    'gen_ai.response.finish_reasons': [record.finishReason],
    'gen_ai.response.time_to_first_chunk': firstChunkSeconds(record),
    'gen_ai.usage.input_tokens': usage.promptTokens,
    'gen_ai.usage.output_tokens': usage.completionTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cacheReadTokens,
    'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
    'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens,
    'gen_ai.conversation.id': record.sessionId,
    ...addressOf(provider.host),
    'error.type': record.error?.type,
    'user.id': record.identity?.user,
    'sluice.generation.id': record.id,
    'sluice.truth': TRUTHS[record.truth],
    'sluice.provider': provider.slug,
    'sluice.endpoint.id': record.endpointId,
    'sluice.region': record.dataRegion,
    'sluice.service_tier': record.serviceTier,
    'sluice.finish_reason.native': record.nativeFinishReason,
    'sluice.preset.id': record.presetId,
    'sluice.attempts': record.attempts.length,
    'sluice.fallback': record.attempts.length > 1,
    'sluice.step': record.parent?.kind,
    'sluice.parent.generation.id': record.parent?.id,
    'sluice.cache.generation.id': record.cacheSourceId,
    'sluice.content.missing': record.contentMissing,
    'sluice.trace.id': trace.givenTraceId,
    'sluice.trace.name': trace.traceName,
    ...costAttributes(record.cost),
    ...callerAttributes(record),
    ...prefixed('sluice.trace.', trace.extra),
    ...prefixed('sluice.metadata.', record.metadata),
  }
}

/** The request as the gateway's server saw it. Its trace and caller are in it too: many tools list root spans only. */
export const requestAttributes = (record: ExportRecord): Attributes => ({
  'http.request.method': 'POST',
  'http.route': record.route,
  'http.response.status_code': record.error === null ? 200 : record.error.status,
  'error.type': record.error?.type,
  'user.id': record.identity?.user,
  'gen_ai.conversation.id': record.sessionId,
  'sluice.generation.id': record.id,
  'sluice.request.id': record.requestId,
  'sluice.trace.id': record.trace.givenTraceId,
  'sluice.trace.name': record.trace.traceName,
  ...callerAttributes(record),
  'http.request.header.origin': headerOf(record.requestContext?.origin),
  'http.request.header.referer': headerOf(record.requestContext?.httpReferer),
  'http.request.header.x-title': headerOf(record.requestContext?.title),
  'user_agent.original': record.requestContext?.userAgent || null,
})

/** Seconds from the request to the first content of a streamed answer. */
const firstChunkSeconds = ({ streamed, firstContentAt, startedAt }: ExportRecord) =>
  streamed && firstContentAt !== null ? { double: (firstContentAt - startedAt) / 1000 } : null

/** A failed answer has an `error.type` and no truth. */
const TRUTHS: Readonly<Record<ExportTruth, string | null>> = {
  complete: 'whole',
  truncated: 'cut',
  disconnected: 'left',
  filtered: 'filtered',
  estimated: 'estimated',
  cached: 'cached',
  failed: null,
}

function parameterAttributes(parameters: ExportParameters): Attributes {
  const { choices } = parameters
  return {
    'gen_ai.request.max_tokens': parameters.maxTokens,
    'gen_ai.request.temperature': double(parameters.temperature),
    'gen_ai.request.top_p': double(parameters.topP),
    'gen_ai.request.top_k': double(parameters.topK),
    'gen_ai.request.frequency_penalty': double(parameters.frequencyPenalty),
    'gen_ai.request.presence_penalty': double(parameters.presencePenalty),
    'gen_ai.request.seed': parameters.seed,
    'gen_ai.request.stop_sequences': parameters.stop,
    'gen_ai.request.choice.count': choices === 1 ? null : choices,
    'gen_ai.output.type': parameters.outputType,
    'sluice.reasoning.effort': parameters.reasoningEffort,
    'sluice.tools': parameters.tools,
  }
}

function costAttributes(cost: ExportCost | null): Attributes {
  if (cost === null) return {}
  return {
    'sluice.cost_usd': usd(cost.totalNanoUsd),
    'sluice.cost.prompt_usd': usd(cost.promptNanoUsd),
    'sluice.cost.completion_usd': usd(cost.completionNanoUsd),
    'sluice.cost.cache_discount_usd': usd(cost.cacheDiscountNanoUsd),
    'sluice.cost.byok': cost.isByok,
  }
}

const callerAttributes = ({ workspace, identity }: ExportRecord): Attributes => ({
  'sluice.workspace': workspace.name,
  'sluice.workspace.id': workspace.id,
  'sluice.key.name': identity?.keyName,
  'sluice.key.hash': identity?.keyHash,
})

/** `host` or `host:port`; an IPv6 address is in brackets. */
function addressOf(host: string | null): Attributes {
  const parts = host === null ? null : /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(host)
  if (parts === null) return {}
  const [, address, port] = parts
  return { 'server.address': address, 'server.port': port === undefined ? null : Number(port) }
}

const double = (value: number | undefined) => (value === undefined ? null : { double: value })
const usd = (nano: number | null) => (nano === null ? null : { double: usdOf(nano) })
const headerOf = (value: string | undefined) => (value ? [value] : null)
