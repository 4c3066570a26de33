import type { HOURLY_SUMS } from './rollups.ts'

/** By what usage can be split, and the column that holds it. */
export const DIMENSIONS = {
  model: 'model',
  provider: 'provider_name',
  provider_slug: 'provider_slug',
  endpoint_id: 'endpoint_id',
  workspace_id: 'workspace_id',
  api_key_hash: 'key_hash',
  user_id: 'user_id',
  is_byok: 'is_byok',
} as const
/** `label`: the value of the query's label. */
export type Dimension = keyof typeof DIMENSIONS | 'label'
export type Granularity = 'hour' | 'day' | 'week' | 'month'

export interface DimensionFilter {
  readonly dimension: Dimension
  readonly values: readonly string[]
  /** All but these. */
  readonly isNegated: boolean
}

export interface UsageQuery {
  readonly dimensions: readonly Dimension[]
  /** Null: one sum for the complete period. */
  readonly granularity: Granularity | null
  /** Milliseconds since 1970; widened to full hours. */
  readonly from: number
  readonly until: number
  readonly filters: readonly DimensionFilter[]
  /**
   * Only requests with this kind of label (`user`, `tag:…`), by full days; absent: all. Splits by it if `label` is among
   * the dimensions.
   */
  readonly label?: string | null
  /** True if `hasDays` is false for the file. Default false. */
  readonly isWithoutDays?: boolean
}

export type Sums = Readonly<Record<(typeof HOURLY_SUMS)[number], number>>
