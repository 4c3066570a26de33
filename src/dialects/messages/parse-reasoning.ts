import { badRequest } from '../../core/errors.ts'
import { defined, restOf } from '../../core/json.ts'
import type { Reasoning } from '../../core/request.ts'
import type { Keep } from './keep.ts'
import type { MessagesBody } from './schema.ts'

/** With this beta a budget spans the calls of tools and may be larger than one answer. */
const INTERLEAVED = /interleaved-thinking/

const THINKING = new Set(['type', 'budget_tokens', 'display'])

/**
 * | Messages | neutral |
 * |---|---|
 * | `thinking.enabled` with a budget | on, with this bound in tokens |
 * | `thinking.adaptive`, `between_tools` | on |
 * | `thinking.disabled` | off |
 * | `display: omitted` | reasoning is not shown |
 * | `output_config.effort` | effort; none of it says that thinking is to be on |
 *
 * Throws a `GatewayError` 400 for a budget that leaves no room for an answer.
 */
export function readReasoning(body: MessagesBody, headers: Headers, keep: Keep): Reasoning | undefined {
  const { thinking, output_config, max_tokens } = body
  const effort = output_config?.effort ?? undefined
  if (!thinking) return effort === undefined ? undefined : { effort }
  keep.rest(restOf(thinking, THINKING), 'thinking')
  if (thinking.type === 'disabled') return { enabled: false }
  const display = 'display' in thinking ? thinking.display : undefined
  const shared = defined({ effort, exclude: display === 'omitted' ? true : undefined })
  if (thinking.type !== 'enabled') {
    if (thinking.type === 'between_tools') keep('thinking.type')
    return { enabled: true, ...shared }
  }
  const { budget_tokens } = thinking
  const isInterleaved = INTERLEAVED.test(headers.get('anthropic-beta') ?? '')
  if (max_tokens && budget_tokens >= max_tokens && !isInterleaved) {
    throw badRequest(
      `must be less than max_tokens, which is ${max_tokens}, not ${budget_tokens}`,
      'thinking.budget_tokens',
    )
  }
  return { enabled: true, maxTokens: budget_tokens, ...shared }
}
