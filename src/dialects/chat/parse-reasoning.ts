import { badRequest } from '../../core/errors.ts'
import { defined, restOf } from '../../core/json.ts'
import type { Reasoning } from '../../core/request.ts'
import type { ChatBody } from './schema.ts'

const KNOWN = new Set(['effort', 'max_tokens', 'enabled', 'exclude', 'summary'])

/** `reasoning`, `reasoning_effort` and `include_reasoning` are three ways to say the same: they become one. */
export function readReasoning(body: ChatBody): Reasoning | undefined {
  const { reasoning, reasoning_effort, include_reasoning } = body
  if (!reasoning && !reasoning_effort && include_reasoning !== false) return undefined
  if (reasoning_effort && reasoning?.effort && reasoning_effort !== reasoning.effort) {
    throw badRequest(
      `is "${reasoning_effort}" but reasoning.effort is "${reasoning.effort}": send one of the two, or the same in both`,
      'reasoning_effort',
    )
  }
  const read = defined<Reasoning>({
    effort: reasoning?.effort ?? reasoning_effort ?? undefined,
    maxTokens: reasoning?.max_tokens ?? undefined,
    enabled: reasoning?.enabled ?? undefined,
    exclude: reasoning?.exclude ?? (include_reasoning === false ? true : undefined),
    summary: reasoning?.summary ?? undefined,
    extra: reasoning ? restOf(reasoning, KNOWN) : undefined,
  })
  return Object.keys(read).length === 0 ? undefined : read
}
