import type { JsonObject } from '../../core/events.ts'
import { asList, asNumber, isObject } from '../../core/json.ts'
import { nanoUsdOf } from '../../core/money.ts'

/** When a loop ends although the model calls tools. */
export interface StopRule {
  /** The request's `stop_server_tools_when`: any that holds ends the loop. */
  readonly conditions: readonly JsonObject[]
  /** The most calls that are run. */
  readonly mostCalls: number
}

/** What the steps so far did. */
export interface Progress {
  readonly steps: number
  readonly tokens: number
  readonly costNanoUsd: number
  /** Of the tools that were called, with and without the prefix. */
  readonly called: ReadonlySet<string>
  readonly finishReasons: ReadonlySet<string>
}

/** Without a bound of the caller: more than any useful answer needs. */
const MOST_CALLS = 100

/** `stop_server_tools_when` overrides `max_tool_calls`. */
export function stopRuleOf(body: JsonObject): StopRule {
  const conditions = asList(body['stop_server_tools_when']).filter(isObject)
  const most = conditions.length > 0 ? undefined : asNumber(body['max_tool_calls'])
  return { conditions, mostCalls: Math.max(0, Math.min(most ?? MOST_CALLS, MOST_CALLS)) }
}

/** The type of the condition that holds; null: none does. */
export function stoppedBy({ conditions }: StopRule, progress: Progress): string | null {
  const met = conditions.find((condition) => holds(condition, progress))
  return met === undefined ? null : String(met['type'])
}

function holds(
  condition: JsonObject,
  { steps, tokens, costNanoUsd, called, finishReasons }: Progress,
): boolean {
  switch (condition['type']) {
    case 'step_count_is':
      return steps >= Number(condition['step_count'])
    case 'max_cost':
      return costNanoUsd >= nanoUsdOf(Number(condition['max_cost_in_dollars']))
    case 'max_tokens_used':
      return tokens >= Number(condition['max_tokens'])
    case 'has_tool_call':
      return called.has(String(condition['tool_name']))
    case 'finish_reason_is':
      return finishReasons.has(String(condition['reason']))
    default:
      return false
  }
}
