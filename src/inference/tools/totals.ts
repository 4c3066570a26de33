import type { JsonObject } from '../../core/events.ts'
import { usdOf } from '../../core/money.ts'
import type { Closing, RoutingMetadata, ServerToolUse } from '../../core/result.ts'
import { addedUsage, completionTokens, promptTokens } from '../../core/usage.ts'
import type { StopRule } from './stop.ts'

/** What the tools of one request did, for its metadata and its usage. */
export interface ToolReport {
  readonly steps: number
  readonly use: ServerToolUse
  /** By tool, how often it was called. */
  readonly calls: ReadonlyMap<string, number>
  /** Of content filters in the results. */
  readonly findings: readonly JsonObject[]
  /** Why the loop ended although the model called tools; null: it did not. */
  readonly stoppedBy: string | null
}

/**
 * The outcome of all steps as the outcome of one reply: sums, and the end of the last step. The costs of the caller's steps
 * after the first are added where those of all its other steps are (`withSteps`).
 */
export function totalOf(steps: readonly Closing[], isCallers: boolean): Closing {
  const [first] = steps
  const last = steps.at(-1)
  if (first === undefined || last === undefined) throw new Error('a loop without a step')
  const sum = (amount: (closing: Closing) => number): number =>
    steps.reduce((total, closing) => total + amount(closing), 0)
  const { native: _, ...usage } = steps.map((step) => step.usage).reduce(addedUsage)
  return {
    ...last,
    usage,
    costNanoUsd: isCallers ? first.costNanoUsd : sum((closing) => closing.costNanoUsd),
    promptCostNanoUsd: sum((closing) => closing.promptCostNanoUsd),
    completionCostNanoUsd: sum((closing) => closing.completionCostNanoUsd),
    isByok: steps.every(({ isByok }) => isByok),
  }
}

export const tokensOf = ({ usage }: Closing): number => promptTokens(usage) + completionTokens(usage)

/** The routing metadata with the stage of the server tools (api-surface §19). */
export function withToolStage(
  metadata: RoutingMetadata | null,
  { steps, use: { requested, executed, costNanoUsd }, calls, findings, stoppedBy }: ToolReport,
): RoutingMetadata | null {
  if (metadata === null || requested === 0) return metadata
  const stage: JsonObject = {
    type: 'server_tools',
    name: 'server-tools',
    summary: `${executed} of ${requested} calls were run in ${steps} steps`,
    cost_usd: usdOf(costNanoUsd),
    data: { steps, requested, executed, calls: Object.fromEntries(calls), stopped_by: stoppedBy },
  }
  return { ...metadata, pipeline: [...(metadata.pipeline ?? []), stage, ...findings] }
}

/** The bounds of every loop, in the words of `stopped_by`. */
export const STEP_BOUND = 'step_bound'
export const TIME_BOUND = 'time_bound'
export const CALL_BOUND = 'max_tool_calls'

export const isCallBound = ({ mostCalls }: StopRule, executed: number): boolean => executed >= mostCalls
