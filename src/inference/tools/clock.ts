import { cancel } from '../../core/cancellation.ts'
import { GatewayError, NEVER_RETRY } from '../../core/errors.ts'
import type { Conversation } from '../generation.ts'

/**
 * Aborts a step that still runs when the time of its request is over. The last step, which only answers, has at least the
 * time of one call. Returns what stops the clock.
 */
export function startClock(
  { deps, cancellation }: Conversation,
  endsAt: number,
  isLast: boolean,
): () => void {
  const { callMs, totalMs } = deps.toolBounds
  const left = endsAt - deps.ticker.now()
  return deps.ticker.after(isLast ? Math.max(left, callMs) : left, () =>
    cancel(cancellation, timeIsOver(totalMs)),
  )
}

const timeIsOver = (totalMs: number): GatewayError =>
  new GatewayError(
    408,
    `A request with server tools may take ${Math.round(totalMs / 1000)} seconds, and its model had not finished: ask for less, or set max_tool_calls`,
    { metadata: { error_type: 'timeout' }, headers: NEVER_RETRY },
  )
