import type { UpstreamFailure } from '../core/errors.ts'
import { gaveContent, type Settlement } from '../core/generation.ts'

/** How an inference request ended, in the order of their numbers. */
export const OUTCOMES = ['ok', 'error', 'refused', 'cancelled', 'truncated', 'cached'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** `cancelled`: the client disconnected. `truncated`: it ended with an error after some content. */
export function outcomeOf(settlement: Settlement): Outcome {
  const { responseCacheSourceId, cancelled, finishReason, tries } = settlement
  if (responseCacheSourceId !== undefined) return 'cached'
  if (cancelled) return 'cancelled'
  if (finishReason !== 'error') return 'ok'
  const last = tries.at(-1)
  return last !== undefined && gaveContent(last) ? 'truncated' : 'error'
}

/** How an attempt at an endpoint ended. `internal`: by a failure of the gateway. */
export type AttemptEnd = 'ok' | UpstreamFailure | 'cancelled' | 'internal'

const FAILURES: Readonly<Record<UpstreamFailure, true>> = {
  connect: true,
  timeout: true,
  'rate-limit': true,
  overloaded: true,
  server: true,
  credential: true,
  caller: true,
  unsuitable: true,
  malformed: true,
  truncated: true,
  capacity: true,
}
const FALLBACK = '_OTHER'

/**
 * The conventions' `error.type`; '' for a generation without an error. The status of the last attempt, else the kind of
 * its failure: a provider's own code is never used, because it may be any text.
 */
export function errorTypeOf({ tries }: Settlement, outcome: Outcome): string {
  if (outcome === 'cancelled' || outcome === 'truncated') return outcome
  if (outcome !== 'error') return ''
  const last = tries.at(-1)
  if (last === undefined) return FALLBACK
  const { status, code } = last
  if (status !== null && status >= 400 && status <= 599) return String(status)
  if (code !== null && code in FAILURES) return code
  if (status !== null || code === null) return FALLBACK
  // Without a reply the code is the system's.
  return code === 'ETIMEDOUT' ? 'timeout' : 'connect'
}
