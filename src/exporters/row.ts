/**
 * A generation as one flat row, for tables and files. The names of the first columns are those of OpenRouter's tables
 * (openrouter.ai/docs/guides/features/broadcast/snowflake, read 2026-11-23), so that queries written for them run here.
 */
import { usdOf } from '../core/money.ts'
import type { ExportRecord } from './record.ts'
import { spanIdOf } from './span-ids.ts'

type ColumnKind = 'text' | 'word' | 'time' | 'count' | 'number' | 'money' | 'boolean' | 'json'

export interface Column {
  readonly name: string
  /** `word`: a text with few different values. `money`: US dollars with nine digits behind the point, as text. */
  readonly kind: ColumnKind
  readonly isOptional?: boolean
  readonly read: (record: ExportRecord) => unknown
}

const required = (name: string, kind: ColumnKind, read: Column['read']): Column => ({
  name,
  kind,
  read,
})
const optional = (name: string, kind: ColumnKind, read: Column['read']): Column => ({
  name,
  kind,
  isOptional: true,
  read,
})

/** The id and the time come first: they are the key of the tables. */
export const COLUMNS: readonly Column[] = [
  required('GENERATION_ID', 'text', ({ id }) => id),
  required('TIMESTAMP', 'time', ({ startedAt }) => iso(startedAt)),
  required('TRACE_ID', 'text', ({ trace }) => trace.traceId),
  required('SPAN_ID', 'text', ({ id }) => spanIdOf(id, 'chat')),
  optional('PARENT_SPAN_ID', 'text', ({ trace }) => trace.parentSpanId),
  required('SPAN_TYPE', 'word', () => 'GENERATION'),
  required('NAME', 'text', nameOf),
  optional('SESSION_ID', 'text', ({ sessionId }) => sessionId),
  optional('USER_ID', 'text', ({ identity }) => identity?.user),
  optional('API_KEY_NAME', 'text', ({ identity }) => identity?.keyName),
  required('MODEL', 'word', ({ model }) => model),
  required('PROVIDER_NAME', 'word', ({ provider }) => provider.name),
  required('DURATION_MS', 'number', ({ startedAt, endedAt }) => endedAt - startedAt),
  required('STATUS', 'word', ({ error }) => (error === null ? 'ok' : 'error')),
  required('LEVEL', 'word', levelOf),
  required('FINISH_REASON', 'word', ({ finishReason }) => finishReason),
  required('PROMPT_TOKENS', 'count', ({ usage }) => usage.promptTokens),
  required('COMPLETION_TOKENS', 'count', ({ usage }) => usage.completionTokens),
  required('TOTAL_TOKENS', 'count', ({ usage }) => usage.promptTokens + usage.completionTokens),
  optional('TOTAL_COST', 'money', ({ cost }) => usd(cost?.totalNanoUsd)),
  optional('INPUT_COST', 'money', ({ cost }) => usd(cost?.promptNanoUsd)),
  optional('OUTPUT_COST', 'money', ({ cost }) => usd(cost?.completionNanoUsd)),
  optional('INPUT', 'json', ({ content }) => content?.input),
  optional('OUTPUT', 'json', ({ content }) => content?.output),
  required('METADATA', 'json', metadataOf),
  required('MODEL_PARAMETERS', 'json', ({ parameters }) => parameters),
  required('ATTRIBUTES', 'json', attributesOf),
  required('WORKSPACE_ID', 'word', ({ workspace }) => workspace.id),
  required('WORKSPACE_NAME', 'word', ({ workspace }) => workspace.name),
  required('API_TYPE', 'word', ({ apiType }) => apiType),
  required('REQUESTED_MODEL', 'word', ({ requestedModel }) => requestedModel),
  required('STREAMED', 'boolean', ({ streamed }) => streamed),
  optional('TIME_TO_FIRST_TOKEN_MS', 'number', ({ startedAt, firstContentAt }) =>
    firstContentAt === null ? null : firstContentAt - startedAt,
  ),
  required('OUTCOME', 'word', ({ truth }) => truth),
  optional('ERROR_TYPE', 'word', ({ error }) => error?.type),
  optional('ERROR_STATUS', 'count', ({ error }) => error?.status),
  optional('ERROR_MESSAGE', 'text', ({ error }) => error?.message),
  required('CACHE_READ_TOKENS', 'count', ({ usage }) => usage.cacheReadTokens),
  required('CACHE_WRITE_TOKENS', 'count', ({ usage }) => usage.cacheWriteTokens),
  required('REASONING_TOKENS', 'count', ({ usage }) => usage.reasoningTokens),
  optional('CONTENT_MISSING', 'word', ({ contentMissing }) => contentMissing),
]

/** What a column has for the record; null for what the record lacks. */
export const valueIn = (column: Column, record: ExportRecord): unknown => column.read(record) ?? null

export const iso = (at: number): string => new Date(at).toISOString()

const usd = (nanoUsd: number | null | undefined): string | null =>
  nanoUsd === null || nanoUsd === undefined ? null : usdOf(nanoUsd).toFixed(9)

export function nameOf({ trace, apiType, model }: ExportRecord): string {
  return trace.generationName ?? trace.spanName ?? trace.traceName ?? `${apiType} ${model}`
}

function levelOf({ error, truth }: ExportRecord): string {
  if (error !== null) return 'ERROR'
  return truth === 'complete' || truth === 'cached' || truth === 'estimated' ? 'DEFAULT' : 'WARNING'
}

/** The request's `metadata` and `trace`, as the caller gave them. */
export function metadataOf({ metadata, trace }: ExportRecord): Record<string, unknown> {
  return {
    ...metadata,
    ...trace.extra,
    ...present({
      trace_id: trace.givenTraceId,
      trace_name: trace.traceName,
      span_name: trace.spanName,
      generation_name: trace.generationName,
    }),
  }
}

function attributesOf(record: ExportRecord): unknown {
  const { identity, requestContext, cost } = record
  return present({
    request_id: record.requestId,
    route: record.route,
    provider_slug: record.provider.slug,
    provider_host: record.provider.host,
    endpoint_id: record.endpointId,
    upstream_id: record.upstreamId,
    service_tier: record.serviceTier,
    data_region: record.dataRegion,
    native_finish_reason: record.nativeFinishReason,
    preset_id: record.presetId,
    key_hash: identity?.keyHash,
    is_byok: cost?.isByok,
    cache_discount_usd: usd(cost?.cacheDiscountNanoUsd),
    http_referer: requestContext?.httpReferer,
    origin: requestContext?.origin,
    app_title: requestContext?.title,
    user_agent: requestContext?.userAgent,
    parent_generation_id: record.parent?.id,
    step: record.parent?.kind,
    cache_source_id: record.cacheSourceId,
    guardrails: record.guardrails.length === 0 ? null : record.guardrails,
    attempts: record.attempts,
    tools: record.content?.tools,
  })
}

/** Without the members that are null or absent. */
export const present = (values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== undefined))
