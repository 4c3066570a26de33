/** When a spending limit resets. */
export type LimitReset = 'daily' | 'weekly' | 'monthly'

/** The windows in which spending is counted. `lifetime` never resets. */
export type Interval = LimitReset | 'lifetime'

/** One bound on spending that a request must pass. All gates of a request are passed or none. */
export interface Gate {
  /** Whose spending: a key's hash, a workspace's id … */
  readonly scope: 'key' | 'workspace' | 'guardrail' | 'organization'
  readonly id: string
  /** Words for the sentence of a refusal: `This key`. */
  readonly label: string
  /** Of the key, workspace or guardrail, for the metrics and the log. */
  readonly name?: string
  readonly interval: Interval
  readonly limitNanoUsd: number
  /** Spending with BYOK keys counts too; default false. */
  readonly includeByok?: boolean
  /** The status of a refusal: 402 for keys and credits, 403 for budgets. */
  readonly status: 402 | 403
}

export const intervalOf = (reset: LimitReset | null): Interval => reset ?? 'lifetime'
