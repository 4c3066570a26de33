import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { Traits } from '../claude.ts'
import { thinkingOf } from '../claude-thinking.ts'
import type { Drop } from './marks.ts'

/** Puts `thinking` and `output_config.effort` into a body that has its bound and its choice of tools. */
export function applyReasoning(
  body: JsonObject,
  request: InferenceRequest,
  attempt: Attempt,
  traits: Traits,
  drop: Drop,
): void {
  const isForced = isObject(body.tool_choice) && ['any', 'tool'].includes(String(body.tool_choice.type))
  const limits = { attempt, traits, bound: Number(body.max_tokens), isForced }
  const { thinking, effort } = thinkingOf(request, limits, drop)
  if (thinking !== undefined) body.thinking = thinking
  if (effort === undefined) return
  const config = isObject(body.output_config) ? body.output_config : {}
  body.output_config = { ...config, effort }
}
