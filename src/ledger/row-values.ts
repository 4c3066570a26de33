import type { AttemptOutcome, Settlement } from '../core/generation.ts'
import { nanoUsdOf } from '../core/money.ts'
import type { Bound } from '../db/hot-statement.ts'
import type { ChargedScope, generations, ProviderResponseRow, StepRow } from '../db/tables.ts'
import { brief, briefOrNull, count, duration } from './brief.ts'
import type { Summed } from './summed.ts'

/** Further scopes that a row is charged to, with their column value: computed once per list of gates. */
export interface ChargedScopes {
  readonly list: readonly ChargedScope[]
  readonly json: string
}

export const chargedScopes = (list: readonly ChargedScope[]): ChargedScopes | null =>
  list.length === 0 ? null : { list, json: JSON.stringify(list) }

/**
 * The columns that rows are written with. All others have their default, or null. The first three are filled in by the
 * commit: see `FILLED_IN`.
 */
export const ROW_COLUMNS = [
  'user_id',
  'app_id',
  'labels',
  'id',
  'request_id',
  'workspace_id',
  'key_hash',
  'model',
  'provider_slug',
  'provider_name',
  'endpoint_id',
  'upstream_id',
  'api_type',
  'router',
  'service_tier',
  'preset_id',
  'streamed',
  'cancelled',
  'is_byok',
  'finish_reason',
  'native_finish_reason',
  'origin',
  'http_referer',
  'title',
  'user_agent',
  'external_user',
  'session_id',
  'created_at',
  'ended_at',
  'latency_ms',
  'generation_time_ms',
  'tokens_prompt',
  'tokens_completion',
  'native_tokens_prompt',
  'native_tokens_completion',
  'native_tokens_cached',
  'native_tokens_cache_write',
  'native_tokens_prompt_audio',
  'native_tokens_prompt_images',
  'native_tokens_reasoning',
  'native_tokens_completion_audio',
  'native_tokens_completion_images',
  'num_input_audio_prompt',
  'num_media_prompt',
  'num_media_completion',
  'response_cache_source_id',
  'usage_source',
  'estimated',
  'cost_nano_usd',
  'upstream_cost_nano_usd',
  'cache_discount_nano_usd',
  'provider_responses',
  'charged_scopes',
  'guardrails',
  'trace',
  'routing',
  'parent_id',
  'step',
] as const satisfies readonly (keyof typeof generations.$inferSelect)[]

/** The places in `values` of what the commit fills in. */
export const FILLED_IN = { userId: 0, appId: 1, labels: 2 } as const

/** The values of a settlement in the order of `ROW_COLUMNS`; `row` holds what sums take of it. */
export const valuesOf = (
  settlement: Settlement,
  row: Summed & { readonly origin: string; readonly title: string },
  charged: ChargedScopes | null,
): Bound[] => [
  '',
  null,
  null,
  settlement.generationId,
  settlement.requestId,
  settlement.workspaceId,
  settlement.keyHash,
  settlement.modelId,
  settlement.providerSlug,
  settlement.providerName,
  settlement.endpointId,
  briefOrNull(settlement.upstreamId),
  settlement.apiType,
  settlement.router,
  briefOrNull(settlement.serviceTier),
  settlement.presetId ?? null,
  settlement.streamed,
  settlement.cancelled,
  settlement.isByok,
  settlement.finishReason,
  briefOrNull(settlement.nativeFinishReason),
  row.origin,
  brief(settlement.httpReferer),
  row.title,
  brief(settlement.userAgent),
  briefOrNull(settlement.externalUser),
  briefOrNull(settlement.sessionId),
  settlement.startedAt,
  settlement.endedAt,
  duration(settlement.latencyMs),
  duration(settlement.generationTimeMs),
  row.promptTokens,
  row.completionTokens,
  row.promptTokens,
  row.completionTokens,
  row.cachedTokens,
  count(settlement.usage.cacheWriteTokens),
  count(settlement.usage.audioInputTokens),
  count(settlement.usage.imageInputTokens),
  row.reasoningTokens,
  count(settlement.usage.audioOutputTokens),
  count(settlement.usage.imageOutputTokens),
  settlement.apiType === 'stt' ? 1 : count(settlement.promptMedia?.recordings ?? 0),
  count(settlement.promptMedia?.images ?? 0),
  count(settlement.usage.images ?? settlement.answerImages ?? 0),
  settlement.responseCacheSourceId ?? null,
  settlement.usageSource,
  settlement.usageSource === 'estimated',
  row.costNanoUsd,
  providerCost(settlement.usage.providerCostUsd),
  settlement.cacheDiscountNanoUsd,
  providerResponses(settlement),
  charged === null ? null : charged.json,
  settlement.guardrails === undefined ? null : JSON.stringify(settlement.guardrails),
  settlement.trace === undefined ? null : JSON.stringify(settlement.trace),
  settlement.routing,
  settlement.parent?.id ?? null,
  stepOf(settlement),
]

/** What it did for its parent, as JSON; null without a parent. */
export const stepOf = ({ parent, counts }: Pick<Settlement, 'parent' | 'counts'>): string | null =>
  parent === undefined ? null : JSON.stringify({ kind: parent.kind, ...counts } satisfies StepRow)

/** A single attempt that the row describes is stored as its latency: see `generations.provider_responses`. */
function providerResponses(settlement: Settlement): string {
  const { tries } = settlement
  const [first] = tries
  if (first === undefined) return '[]'
  if (tries.length === 1 && isPlain(first, settlement)) return `[${Math.round(first.latencyMs)}]`
  return JSON.stringify(tries.map(responseOf))
}

const isPlain = (tried: AttemptOutcome, settlement: Settlement): boolean =>
  tried.status === PLAIN_STATUS &&
  tried.upstreamId === settlement.upstreamId &&
  tried.endpointId === settlement.endpointId &&
  tried.modelId === settlement.modelId &&
  tried.providerName === settlement.providerName &&
  (tried.isByok ?? false) === settlement.isByok &&
  Number.isFinite(tried.latencyMs)

const PLAIN_STATUS = 200

/** The tries of a row, as the API shows them. The last one has the service tier that its provider reported. */
export function providerResponsesOf(row: Stored): ShownResponse[] | null {
  const { provider_responses: tries, service_tier } = row
  if (tries === null) return null
  const responses = tries.map(
    (tried): ShownResponse => (typeof tried === 'number' ? plainResponse(row, tried) : tried),
  )
  const last = responses.at(-1)
  if (service_tier !== null && last?.status === PLAIN_STATUS)
    responses[responses.length - 1] = { ...last, routed_service_tier: service_tier }
  return responses
}

type ShownResponse = ProviderResponseRow & { routed_service_tier?: string }

type Stored = Pick<
  typeof generations.$inferSelect,
  | 'provider_responses'
  | 'endpoint_id'
  | 'upstream_id'
  | 'is_byok'
  | 'model'
  | 'provider_name'
  | 'service_tier'
>

const plainResponse = (row: Stored, latency: number): ProviderResponseRow => ({
  endpoint_id: row.endpoint_id,
  id: row.upstream_id,
  is_byok: row.is_byok,
  latency,
  model_permaslug: row.model,
  provider_name: row.provider_name,
  status: PLAIN_STATUS,
})

const responseOf = (tried: AttemptOutcome): ProviderResponseRow => ({
  endpoint_id: tried.endpointId,
  id: briefOrNull(tried.upstreamId),
  is_byok: tried.isByok ?? false,
  latency: Math.round(tried.latencyMs),
  model_permaslug: tried.modelId,
  provider_name: tried.providerName,
  status: tried.status,
})

function providerCost(usd: number | undefined): number | null {
  if (usd === undefined) return null
  const nanoUsd = nanoUsdOf(usd)
  return Number.isSafeInteger(nanoUsd) && nanoUsd >= 0 ? nanoUsd : null
}
