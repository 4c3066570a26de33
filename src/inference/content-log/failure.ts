import { type GatewayError, UpstreamError } from '../../core/errors.ts'
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
  const reported = tries[reportedTry(error, tries)]
  const others = tries.filter((each) => each !== reported)
  const before = { raw: null, previous_errors: others.map(failedAttempt) }
  if (ending === 'disconnected')
    return {
      ...before,
      message: 'The client disconnected or cancelled the request before the end',
      provider_name: reported?.providerName ?? null,
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

/** The attempt whose failure the caller got: the most useful one, else the last. */
function reportedTry(error: GatewayError | null, tries: readonly AttemptOutcome[]): number {
  const { cause, metadata } = error ?? {}
  if (!(cause instanceof UpstreamError)) return tries.length - 1
  const at = tries.findLastIndex(
    ({ providerName, status }) => providerName === metadata?.provider_name && status === cause.status,
  )
  return at === -1 ? tries.length - 1 : at
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
