import { badRequest } from '../../../core/errors.ts'
import { TAG_LABEL, USER_LABEL } from '../../../core/generation.ts'
import { usdOf } from '../../../core/money.ts'
import type { Dimension, Granularity, Sums } from '../../../ledger/usage-sums.ts'

export interface Metric {
  readonly label: string
  readonly format: 'number' | 'currency' | 'percent'
  /** A ratio: it does not add up over rows. */
  readonly isRate: boolean
  /** Null: there is nothing to divide by. */
  of(sums: Sums): number | null
}

const count = (label: string, of: (sums: Sums) => number): Metric => ({
  label,
  format: 'number',
  isRate: false,
  of,
})
const money = (label: string, of: (sums: Sums) => number): Metric => ({
  label,
  format: 'currency',
  isRate: false,
  of: (sums) => usdOf(of(sums)),
})
const rate = (
  label: string,
  format: Metric['format'],
  part: (sums: Sums) => number,
  total: (sums: Sums) => number,
): Metric => ({
  label,
  format,
  isRate: true,
  of: (sums) => (total(sums) === 0 ? null : part(sums) / total(sums)),
})

/** The metrics of queries. Amounts are USD, percents fractions of 1. */
export const METRICS = {
  request_count: count('Requests', ({ requests }) => requests),
  error_count: count('Failed requests', ({ failed_requests: failed }) => failed),
  error_rate: rate(
    'Error rate',
    'percent',
    ({ failed_requests: failed }) => failed,
    ({ requests }) => requests,
  ),
  total_usage: money('Spending', ({ usage_nano_usd: usage }) => usage),
  byok_usage: money('Spending with BYOK keys', ({ byok_usage_nano_usd: usage }) => usage),
  usage_per_request: rate(
    'Spending per request',
    'currency',
    ({ usage_nano_usd: usage }) => usdOf(usage),
    ({ requests }) => requests,
  ),
  prompt_tokens: count('Prompt tokens', ({ prompt_tokens: tokens }) => tokens),
  completion_tokens: count('Completion tokens', ({ completion_tokens: tokens }) => tokens),
  total_tokens: count(
    'Tokens',
    ({ prompt_tokens: prompt, completion_tokens: completion }) => prompt + completion,
  ),
  reasoning_tokens: count('Reasoning tokens', ({ reasoning_tokens: tokens }) => tokens),
  cached_tokens: count('Cached prompt tokens', ({ cached_tokens: tokens }) => tokens),
  cache_hit_rate: rate(
    'Cached share of the prompt',
    'percent',
    ({ cached_tokens: cached }) => cached,
    ({ prompt_tokens: prompt }) => prompt,
  ),
} as const satisfies Record<string, Metric>
export type MetricName = keyof typeof METRICS

export const DIMENSION_LABELS: Readonly<Record<Exclude<Dimension, 'label'>, string>> = {
  model: 'Model',
  provider: 'Provider',
  provider_slug: 'Provider slug',
  endpoint_id: 'Endpoint',
  workspace_id: 'Workspace',
  api_key_hash: 'API key',
  user_id: 'Member',
  is_byok: 'Own provider key',
}

export const GRANULARITY_LABELS: Readonly<Record<Granularity, string>> = {
  hour: 'Hour',
  day: 'Day',
  week: 'Week',
  month: 'Month',
}

export const OPERATORS = {
  eq: 'scalar',
  neq: 'scalar',
  in: 'array',
  not_in: 'array',
  gt: 'scalar',
  gte: 'scalar',
  lt: 'scalar',
  lte: 'scalar',
} as const
export type Operator = keyof typeof OPERATORS

export const isMetric = (name: string): name is MetricName => Object.hasOwn(METRICS, name)
const isDimension = (name: string): name is keyof typeof DIMENSION_LABELS =>
  Object.hasOwn(DIMENSION_LABELS, name)

/** What callers label their requests with is a dimension by its own name. */
export const CALLER_LABELS = { user: 'User of the request', 'tag:<name>': 'Tag of the request' }
const MOST_TAG_CHARACTERS = 64
const isLabel = (name: string): boolean =>
  name === USER_LABEL || (name.startsWith(TAG_LABEL) && name.length <= TAG_LABEL.length + MOST_TAG_CHARACTERS)

/** The dimension of this name; null if it does not exist. */
export const dimensionNamed = (name: string): Dimension | null =>
  isDimension(name) ? name : isLabel(name) ? 'label' : null

/** The one label among these names; null: none of them is one. Throws a 400 for two. */
export function labelAmong(names: readonly string[]): string | null {
  const labels = [...new Set(names.filter(isLabel))]
  if (labels.length > 1)
    throw badRequest(`a query may name one of user and tags, not ${labels.join(' and ')}`, 'dimensions')
  return labels[0] ?? null
}
