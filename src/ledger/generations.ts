import { and, asc, eq, type SQL } from 'drizzle-orm'
import { usdOf } from '../core/money.ts'
import type { Db } from '../db/database.ts'
import { generations } from '../db/tables.ts'
import type { GenerationRow } from './row.ts'
import { providerResponsesOf } from './row-values.ts'

/**
 * A settled generation by its id, or by the id of its reply in another dialect (`resp_…` and `msg_…` keep the
 * generation's digits). Undefined if it does not exist or belongs to another workspace.
 */
export async function findGeneration(
  db: Db,
  id: string,
  workspaceId: string | null,
): Promise<GenerationRow | undefined> {
  const own: SQL | undefined = workspaceId === null ? undefined : eq(generations.workspace_id, workspaceId)
  const rows = await db
    .select()
    .from(generations)
    .where(and(eq(generations.id, id.replace(/^(?:resp|msg)_/, 'gen-')), own))
    .limit(1)
  return rows[0]
}

/** A reply needs at most a few dozen steps; more are in the ledger and not in its record. */
const MOST_STEPS = 1_000

/** The steps of a generation, in the order in which they began; null as `workspaceId`: of any workspace. */
export function findSteps(db: Db, parentId: string, workspaceId: string | null): Promise<GenerationRow[]> {
  const own: SQL | undefined = workspaceId === null ? undefined : eq(generations.workspace_id, workspaceId)
  return Promise.resolve(
    db
      .select()
      .from(generations)
      .where(and(eq(generations.parent_id, parentId), own))
      .orderBy(asc(generations.id))
      .limit(MOST_STEPS),
  )
}

/**
 * A generation that has steps and no row of its own: it still runs, or a plugin refused its request before it was routed.
 * `step` is its first: who asked is the same.
 */
export const unsettledRow = (id: string, step: GenerationRow): GenerationRow => ({
  ...step,
  ...NOTHING,
  id,
})
const NOTHING = {
  model: '',
  provider_slug: '',
  provider_name: '',
  endpoint_id: '',
  upstream_id: null,
  router: '',
  service_tier: null,
  streamed: false,
  cancelled: false,
  is_byok: false,
  finish_reason: '',
  native_finish_reason: null,
  latency_ms: 0,
  generation_time_ms: 0,
  moderation_latency_ms: null,
  tokens_prompt: 0,
  tokens_completion: 0,
  native_tokens_prompt: 0,
  native_tokens_completion: 0,
  native_tokens_completion_images: 0,
  native_tokens_reasoning: 0,
  native_tokens_cached: 0,
  num_input_audio_prompt: 0,
  num_media_prompt: 0,
  num_media_completion: 0,
  num_search_results: 0,
  num_fetches: null,
  web_search_engine: null,
  response_cache_source_id: null,
  usage_source: 'none',
  cost_nano_usd: 0,
  upstream_cost_nano_usd: null,
  cache_discount_nano_usd: null,
  provider_responses: null,
  guardrails: null,
  routing: null,
  parent_id: null,
  step: null,
} satisfies Partial<GenerationRow>

const costOf = (row: GenerationRow): number => (row.is_byok ? 0 : row.cost_nano_usd)

const stepRecord = (row: GenerationRow) => ({
  id: row.id,
  kind: row.step?.kind ?? '',
  model: row.model,
  provider_name: row.provider_name,
  api_type: row.api_type,
  finish_reason: row.finish_reason,
  cancelled: row.cancelled,
  tokens_prompt: row.tokens_prompt,
  tokens_completion: row.tokens_completion,
  total_cost: usdOf(costOf(row)),
  ms: Math.round(row.latency_ms + row.generation_time_ms),
})

/** What the steps did together, in fields of their parent's record. */
function totalsOf(row: GenerationRow, steps: readonly GenerationRow[]) {
  const totalCost = usdOf(steps.reduce((sum, step) => sum + costOf(step), costOf(row)))
  const sum = (name: 'searchResults' | 'fetches'): number =>
    [row, ...steps].reduce((all, { step }) => all + (step?.[name] ?? 0), 0)
  const moderations = steps.filter(({ step }) => step?.kind === MODERATION)
  return {
    num_search_results: row.num_search_results + sum('searchResults'),
    num_fetches: sum('fetches') || row.num_fetches,
    web_search_engine:
      [row, ...steps].find(({ step }) => step?.searchEngine)?.step?.searchEngine ?? row.web_search_engine,
    moderation_latency:
      moderations.length === 0
        ? row.moderation_latency_ms
        : moderations.reduce((all, step) => all + stepRecord(step).ms, 0),
    total_cost: totalCost,
    usage: totalCost,
  }
}
const MODERATION = 'moderation'

/** The record of GET /generation. Times are milliseconds, money is USD with at most 9 decimals. */
export function generationRecord(row: GenerationRow, steps: readonly GenerationRow[] = []) {
  return {
    id: row.id,
    request_id: row.request_id,
    upstream_id: row.upstream_id,
    workspace_id: row.workspace_id,
    model: row.model,
    provider_name: row.provider_name,
    api_type: row.api_type,
    router: row.router,
    service_tier: row.service_tier,
    data_region: row.data_region,
    preset_id: row.preset_id,
    created_at: row.created_at.toISOString(),
    streamed: row.streamed,
    cancelled: row.cancelled,
    is_byok: row.is_byok,
    finish_reason: row.finish_reason,
    native_finish_reason: row.native_finish_reason,
    app_id: row.app_id,
    origin: row.origin,
    http_referer: row.http_referer,
    user_agent: row.user_agent,
    external_user: row.external_user,
    session_id: row.session_id,
    latency: Math.round(row.latency_ms),
    generation_time: Math.round(row.generation_time_ms),
    tokens_prompt: row.tokens_prompt,
    tokens_completion: row.tokens_completion,
    native_tokens_prompt: row.native_tokens_prompt,
    native_tokens_completion: row.native_tokens_completion,
    native_tokens_completion_images: row.native_tokens_completion_images,
    native_tokens_reasoning: row.native_tokens_reasoning,
    native_tokens_cached: row.native_tokens_cached,
    num_input_audio_prompt: row.num_input_audio_prompt,
    num_media_prompt: row.num_media_prompt,
    num_media_completion: row.num_media_completion,
    response_cache_source_id: row.response_cache_source_id,
    ...totalsOf(row, steps),
    parent_id: row.parent_id,
    steps: steps.map(stepRecord),
    upstream_inference_cost: usdOf(row.upstream_cost_nano_usd ?? row.cost_nano_usd),
    cache_discount: row.cache_discount_nano_usd === null ? null : usdOf(row.cache_discount_nano_usd),
    provider_responses: providerResponsesOf(row),
    usage_source: row.usage_source,
    guardrails: row.guardrails,
    trace: row.trace,
    routing: routingOf(row),
  }
}

/** The request's routing: what its row stores of it, with the columns that have the rest. */
function routingOf(row: GenerationRow) {
  if (row.routing === null) return null
  const [endpoints, admit, plan, connect, first_byte, relay, sticky = null, excluded = {}, codes = []] =
    row.routing
  return {
    strategy: row.router,
    sticky,
    endpoints,
    excluded,
    attempts: (providerResponsesOf(row) ?? []).map(({ endpoint_id, status, latency }, index) => ({
      endpoint: endpoint_id,
      status,
      ms: latency,
      code: codes[index] ?? null,
    })),
    timings: { admit, plan, connect, first_byte, relay },
  }
}
