import type { AttemptOutcome, JournalEntry, Label, Settlement } from '../core/generation.ts'
import { nanoUsdOf } from '../core/money.ts'
import { completionTokens, promptTokens, type Usage } from '../core/usage.ts'
import type { ChargedScope, generations, journal, ProviderResponseRow } from '../db/tables.ts'

export type GenerationRow = typeof generations.$inferSelect
export type JournalRow = typeof journal.$inferSelect

/**
 * The row of a settlement. `user_id` and `app_id` are filled in by the commit, which knows the tables. Throws a
 * `RangeError` for an amount that is no whole number of nano-dollars: money is never repaired in silence.
 */
export function rowOf(settlement: Settlement, chargedScopes: readonly ChargedScope[] | null): GenerationRow {
  const { usage, promptMedia, answerImages } = settlement
  return {
    id: settlement.generationId,
    request_id: settlement.requestId,
    workspace_id: settlement.workspaceId,
    key_hash: settlement.keyHash,
    user_id: '',
    app_id: null,
    model: settlement.modelId,
    provider_slug: settlement.providerSlug,
    provider_name: settlement.providerName,
    endpoint_id: settlement.endpointId,
    upstream_id: briefOrNull(settlement.upstreamId),
    api_type: settlement.apiType,
    router: settlement.router,
    service_tier: briefOrNull(settlement.serviceTier),
    data_region: 'global',
    preset_id: settlement.presetId ?? null,
    streamed: settlement.streamed,
    cancelled: settlement.cancelled,
    is_byok: settlement.isByok,
    finish_reason: settlement.finishReason,
    native_finish_reason: briefOrNull(settlement.nativeFinishReason),
    origin: brief(settlement.origin),
    http_referer: brief(settlement.httpReferer),
    title: brief(settlement.title),
    user_agent: brief(settlement.userAgent),
    external_user: briefOrNull(settlement.externalUser),
    session_id: briefOrNull(settlement.sessionId),
    created_at: new Date(settlement.startedAt),
    ended_at: new Date(settlement.endedAt),
    latency_ms: duration(settlement.latencyMs),
    generation_time_ms: duration(settlement.generationTimeMs),
    moderation_latency_ms: null,
    ...tokensOf(usage),
    num_input_audio_prompt: settlement.apiType === 'stt' ? 1 : count(promptMedia?.recordings ?? 0),
    num_media_prompt: count(promptMedia?.images ?? 0),
    num_media_completion: count(usage.images ?? answerImages ?? 0),
    num_search_results: 0,
    num_fetches: null,
    web_search_engine: null,
    response_cache_source_id: settlement.responseCacheSourceId ?? null,
    usage_source: settlement.usageSource,
    estimated: settlement.usageSource === 'estimated',
    cost_nano_usd: amount(settlement.costNanoUsd),
    upstream_cost_nano_usd: providerCost(usage.providerCostUsd),
    cache_discount_nano_usd: settlement.cacheDiscountNanoUsd,
    provider_responses: settlement.tries.map(responseOf),
    charged_scopes: chargedScopes,
    guardrails: settlement.guardrails ? [...settlement.guardrails] : null,
    labels: briefLabels(settlement.labels),
  }
}

function tokensOf(usage: Usage) {
  const prompt = count(promptTokens(usage))
  const completion = count(completionTokens(usage))
  return {
    tokens_prompt: prompt,
    tokens_completion: completion,
    native_tokens_prompt: prompt,
    native_tokens_completion: completion,
    native_tokens_cached: count(usage.cacheReadTokens),
    native_tokens_cache_write: count(usage.cacheWriteTokens),
    native_tokens_prompt_audio: count(usage.audioInputTokens),
    native_tokens_prompt_images: count(usage.imageInputTokens),
    native_tokens_reasoning: count(usage.reasoningTokens),
    native_tokens_completion_audio: count(usage.audioOutputTokens),
    native_tokens_completion_images: count(usage.imageOutputTokens),
  }
}

const responseOf = (tried: AttemptOutcome): ProviderResponseRow => ({
  endpoint_id: tried.endpointId,
  id: briefOrNull(tried.upstreamId),
  is_byok: tried.isByok ?? false,
  latency: Math.round(tried.latencyMs),
  model_permaslug: tried.modelId,
  provider_name: tried.providerName,
  status: tried.status,
})

type Cost = Pick<GenerationRow, 'is_byok' | 'cost_nano_usd'>
/** Spending with the gateway's own credentials; what a caller's own provider key paid is counted apart. */
export const usageOf = (row: Cost): number => (row.is_byok ? 0 : row.cost_nano_usd)
export const byokUsageOf = (row: Cost): number => (row.is_byok ? row.cost_nano_usd : 0)

export function journalRowOf(entry: JournalEntry, chargedScopes: readonly ChargedScope[] | null): JournalRow {
  return {
    generation_id: entry.generationId,
    key_hash: entry.keyHash,
    workspace_id: entry.workspaceId,
    model: entry.modelId,
    provider_slug: entry.providerSlug,
    provider_name: entry.providerName,
    endpoint_id: entry.endpointId,
    api_type: entry.apiType,
    streamed: entry.streamed,
    is_byok: entry.isByok,
    origin: brief(entry.origin),
    http_referer: brief(entry.httpReferer),
    title: brief(entry.title),
    user_agent: brief(entry.userAgent),
    request_id: entry.requestId,
    session_id: briefOrNull(entry.sessionId),
    external_user: briefOrNull(entry.externalUser),
    started_at: new Date(entry.startedAt),
    prompt_tokens_estimate: count(entry.promptTokensEstimate),
    prompt_cost_nano_usd: amount(entry.promptCostNanoUsd),
    charged_scopes: chargedScopes,
    labels: briefLabels(entry.labels),
  }
}

/** The inverse of `journalRowOf`. */
export function entryOf(row: JournalRow): JournalEntry {
  return {
    generationId: row.generation_id,
    keyHash: row.key_hash,
    workspaceId: row.workspace_id,
    modelId: row.model,
    providerSlug: row.provider_slug,
    providerName: row.provider_name,
    endpointId: row.endpoint_id,
    apiType: row.api_type,
    streamed: row.streamed,
    isByok: row.is_byok,
    origin: row.origin,
    httpReferer: row.http_referer,
    title: row.title,
    userAgent: row.user_agent,
    requestId: row.request_id,
    sessionId: row.session_id,
    externalUser: row.external_user,
    startedAt: row.started_at.getTime(),
    promptTokensEstimate: row.prompt_tokens_estimate,
    promptCostNanoUsd: row.prompt_cost_nano_usd,
    ...(row.labels && { labels: row.labels }),
  }
}

function amount(nanoUsd: number): number {
  if (Number.isSafeInteger(nanoUsd) && nanoUsd >= 0) return nanoUsd
  throw new RangeError(`A cost is a whole number of nano-dollars, not ${nanoUsd}`)
}

// What callers and providers say of themselves is no reason for a row of any size.
const MAX_TEXT = 512
const brief = (text: string): string => (text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) : text)
const briefOrNull = (text: string | null): string | null => (text === null ? null : brief(text))

const briefLabels = (labels: readonly Label[] | undefined): readonly Label[] | null =>
  labels?.map(([name, value]) => [name, brief(value)]) ?? null

// Token counts and durations come from providers and clocks: an absurd one must not keep the row from being written.
const count = (value: number): number =>
  Number.isFinite(value) ? Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.trunc(value))) : 0
const duration = (milliseconds: number): number =>
  Number.isFinite(milliseconds) ? Math.max(0, milliseconds) : 0

function providerCost(usd: number | undefined): number | null {
  if (usd === undefined) return null
  const nanoUsd = nanoUsdOf(usd)
  return Number.isSafeInteger(nanoUsd) && nanoUsd >= 0 ? nanoUsd : null
}
