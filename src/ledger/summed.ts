import type { Label } from '../core/generation.ts'
import type { ChargedScope } from '../db/tables.ts'

/** What sums take of a generation: of a row that is about to be written, or of one that is in the table. */
export interface Summed {
  /** Milliseconds since 1970: a generation counts at the time of its request, not of its settlement. */
  readonly startedAt: number
  readonly workspaceId: string
  readonly keyHash: string
  /** The key's creator. */
  readonly userId: string
  readonly model: string
  readonly providerSlug: string
  readonly providerName: string
  readonly endpointId: string
  readonly isByok: boolean
  readonly isFailed: boolean
  readonly promptTokens: number
  readonly completionTokens: number
  readonly reasoningTokens: number
  readonly cachedTokens: number
  readonly costNanoUsd: number
  readonly chargedScopes: readonly ChargedScope[] | null
  readonly labels: readonly Label[] | null
}

type Cost = Pick<Summed, 'isByok' | 'costNanoUsd'>
/** Spending with the gateway's credentials; spending with BYOK keys is counted separately. */
export const usageOf = (row: Cost): number => (row.isByok ? 0 : row.costNanoUsd)
export const byokUsageOf = (row: Cost): number => (row.isByok ? row.costNanoUsd : 0)

/** The columns of `generations` that `summedOf` reads. */
export const SUMMED_COLUMNS = `created_at, workspace_id, key_hash, user_id, model, provider_slug, provider_name,
  endpoint_id, is_byok, finish_reason, tokens_prompt, tokens_completion, native_tokens_reasoning, native_tokens_cached,
  cost_nano_usd, charged_scopes, labels`

export interface StoredSummed {
  readonly created_at: number
  readonly workspace_id: string
  readonly key_hash: string
  readonly user_id: string
  readonly model: string
  readonly provider_slug: string
  readonly provider_name: string
  readonly endpoint_id: string
  readonly is_byok: number
  readonly finish_reason: string
  readonly tokens_prompt: number
  readonly tokens_completion: number
  readonly native_tokens_reasoning: number
  readonly native_tokens_cached: number
  readonly cost_nano_usd: number
  readonly charged_scopes: string | null
  readonly labels: string | null
}

export const summedOf = (row: StoredSummed): Summed => ({
  startedAt: row.created_at,
  workspaceId: row.workspace_id,
  keyHash: row.key_hash,
  userId: row.user_id,
  model: row.model,
  providerSlug: row.provider_slug,
  providerName: row.provider_name,
  endpointId: row.endpoint_id,
  isByok: row.is_byok !== 0,
  isFailed: row.finish_reason === 'error',
  promptTokens: row.tokens_prompt,
  completionTokens: row.tokens_completion,
  reasoningTokens: row.native_tokens_reasoning,
  cachedTokens: row.native_tokens_cached,
  costNanoUsd: row.cost_nano_usd,
  chargedScopes: row.charged_scopes === null ? null : JSON.parse(row.charged_scopes),
  labels: row.labels === null ? null : JSON.parse(row.labels),
})
