/** What a metric is. `list.ts` has all of them. */

export interface Definition {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly Label[]
  /** Amounts are integers of nano-dollars, and printed in USD. */
  readonly isMoney?: boolean
  /** Upper bounds of a histogram's buckets, ascending, without infinity. */
  readonly bounds?: readonly number[]
  /** Of gauges with the same labels: the sum, or the greatest; default: the sum. */
  readonly combined?: 'greatest'
}

/**
 * Labels whose values the program chooses, with the most of them. The values of all other labels are names of the snapshot,
 * and are replaced by `other` once a metric is full.
 */
export const CHOSEN = {
  gen_ai_operation_name: 6,
  gen_ai_token_type: 5,
  outcome: 14,
  reason: 11,
  phase: 2,
  action: 3,
  limit: 5,
  file: 2,
  scope: 4,
  interval: 4,
} as const satisfies Record<string, number>

export type Label =
  | keyof typeof CHOSEN
  | 'gen_ai_provider_name'
  | 'gen_ai_request_model'
  | 'error_type'
  | 'workspace'
  | 'model'
  | 'provider'
  | 'endpoint'
  | 'key'
  | 'name'
  | 'filter'
  | 'destination'
  | 'type'
  | 'metric'
  | 'version'
  | 'bun'
  | 'platform'

export const OTHER = 'other'

const isChosen = (label: Label): label is keyof typeof CHOSEN => label in CHOSEN

/** The labels of what no longer fits. */
export const otherOf = ({ labels }: Definition, values: readonly string[]): string[] =>
  labels.map((label, index) => (isChosen(label) ? (values[index] ?? '') : OTHER))

/** Lines of one label set in the text: a histogram has one for each bucket, and its count and sum. */
export const linesOf = ({ bounds }: Definition): number => (bounds === undefined ? 1 : bounds.length + 3)

/** The most label sets of a metric that has at most `mostSeries` lines, beside those for what no longer fits. */
export function mostSetsOf(definition: Definition, mostSeries: number): number {
  const others = definition.labels.reduce((sets, label) => (isChosen(label) ? sets * CHOSEN[label] : sets), 1)
  return Math.max(0, Math.floor(mostSeries / linesOf(definition)) - others)
}
