import type { Attempt } from '../../../core/attempt.ts'
import { cancellationOf } from '../../../core/cancellation.ts'
import { UpstreamError } from '../../../core/errors.ts'
import { parseJson } from '../../../core/json.ts'
import type { DialectCall, Egress, MadeContext } from '../../../dialects/dialect.ts'
import { isGood, readErrorResponse, sendCall } from '../attempts.ts'
import { Busy, TooShort } from './store.ts'

/**
 * Requests a provider to cache the prefix of `making`. Throws as `ContextStore.make` expects. The request that caused it
 * may have ended, so this call is not cancelled with it.
 */
export async function makeContext(
  making: DialectCall,
  attempt: Attempt,
  egress: Egress,
  deps: Parameters<typeof sendCall>[2],
): Promise<MadeContext> {
  try {
    return await made(making, attempt, egress, deps)
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    if (egress.contextCache?.isTooShort(error)) throw new TooShort(error.reason, { cause: error })
    throw error.kind === 'capacity' ? new Busy(error.reason, { cause: error }) : error
  }
}

async function made(
  making: DialectCall,
  attempt: Attempt,
  { contextCache, readError }: Egress,
  deps: Parameters<typeof sendCall>[2],
): Promise<MadeContext> {
  // A separate bulkhead, so that requests are not delayed.
  const places = { group: `${attempt.provider.slug} contexts`, maxInFlight: MOST_AT_ONCE }
  const cancellation = cancellationOf(AbortSignal.timeout(MOST_MS))
  const reply = await sendCall(making, attempt, deps, cancellation, { places })
  if (!isGood(reply)) throw await readErrorResponse(reply, attempt, deps, readError)
  const context = contextCache?.read(parseJson(await reply.text(CONTEXT_LIMIT_BYTES)))
  if (!context) throw new UpstreamError('malformed', 'the reply names no cache')
  return context
}

/** Per provider. */
const MOST_AT_ONCE = 4
const MOST_MS = 60_000
const CONTEXT_LIMIT_BYTES = 64 * 1024
