import type { GatewayError } from '../../core/errors.ts'
import type { AttemptOutcome } from '../../core/generation.ts'
import type { FailedAttempt, GenerationFailure } from '../../core/generation-content.ts'
import type { Ending } from '../reply/meter.ts'

/** The logged failure: the error that the caller got. Null for a complete reply. */
export function failureOf(
  ending: Ending,
  error: GatewayError | null,
  tries: readonly AttemptOutcome[],
): GenerationFailure | null {
  // A complete reply that a content filter blocked has an error.
  if (ending === 'complete' && error === null) return null
  const before = { raw: null, previous_errors: tries.slice(0, -1).map(failedAttempt) }
  const last = tries.at(-1)?.providerName ?? null
  if (ending === 'disconnected')
    return {
      ...before,
      message: 'The client disconnected or cancelled the request before the end',
      provider_name: last,
      status: null,
    }
  const provider = error?.metadata?.provider_name ?? null
  return {
    ...before,
    message: error?.message ?? 'The reply was truncated',
    provider_name: provider,
    status: error?.status ?? null,
  }
}

/** The gateway's statuses for attempts without a reply. */
const GATEWAY_TIMEOUT = 524
const BAD_GATEWAY = 502

function failedAttempt({ providerName, status, code }: AttemptOutcome): FailedAttempt {
  const what = status === null ? 'did not reply' : `replied with status ${status}`
  return {
    code: status ?? (code === 'timeout' ? GATEWAY_TIMEOUT : BAD_GATEWAY),
    message: `${providerName} ${what}${code === null ? '' : ` (${code})`}`,
    provider_name: providerName,
    raw: null,
  }
}
