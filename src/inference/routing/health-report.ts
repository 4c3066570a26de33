/** Words for operators about the health of endpoints: for the log and for GET /endpoints/health. */
import type { Attempt } from '../../core/attempt.ts'
import type { EndpointHealth, HealthChange, HealthState } from '../../core/endpoint-health.ts'
import type { UpstreamFailure } from '../../core/errors.ts'
import { type Breaker, nextProbe, recentCounts } from './breaker.ts'

/** The failures of an endpoint and credential since the last success. */
export interface Trouble {
  readonly attempt: Attempt
  /** Of the last failure. */
  readonly kind: UpstreamFailure
  readonly status: number | null
  /** The time of the first failure. */
  readonly since: number
}

interface Standing {
  readonly breaker: Breaker
  readonly host: Breaker | undefined
  /** The end of a refusal; 0: none. */
  readonly refusedUntil: number
  readonly coolUntil: number
  readonly at: number
}

const WORDS: Partial<Record<UpstreamFailure, string>> = {
  connect: 'cannot be reached',
  timeout: 'did not answer in time',
  overloaded: 'is overloaded',
  malformed: 'answered with something unreadable',
  truncated: 'ended its answers before the first content',
}

const answered = (status: number | null): string => (status === null ? '' : ` (HTTP ${status})`)

const nameOf = ({ credential, byokKey }: Attempt): string =>
  byokKey === undefined ? `the credential ${credential.id}` : `the BYOK key ${byokKey.id}`

export const changeOf = (
  attempt: Attempt,
  kind: UpstreamFailure | 'well',
  status: number | null,
): HealthChange => ({
  isWell: kind === 'well',
  message:
    kind === 'well'
      ? `${whichOf(attempt)} answers again`
      : `${causeOf(attempt, kind, status)}; ${whatNext(attempt, kind)}`,
  endpointId: attempt.endpoint.id,
  providerSlug: attempt.provider.slug,
  credentialId: attempt.credential.id,
})

const whichOf = ({ provider, model }: Attempt): string => `${provider.name} (${model.id})`

function causeOf(attempt: Attempt, kind: UpstreamFailure, status: number | null): string {
  if (kind === 'credential') return `${attempt.provider.name} rejected ${nameOf(attempt)}${answered(status)}`
  if (kind === 'rate-limit') return `the rate limit of ${whichOf(attempt)} is reached`
  return `${kind === 'connect' ? attempt.provider.name : whichOf(attempt)} ${WORDS[kind] ?? 'answers with errors'}${answered(status)}`
}

function whatNext({ byokKey }: Attempt, kind: UpstreamFailure): string {
  if (kind === 'credential')
    return `it is not used for 10 minutes. ${byokKey ? 'Its workspace must store a valid one' : 'Replace it, or add credits at the provider'}`
  if (kind === 'rate-limit') return 'it is skipped until the limit ends'
  return 'it is skipped and probed until it answers'
}

/** Null: it is called as usual. Times are on the scale of `at`. */
export function reportOf(
  { attempt, kind, status, since }: Trouble,
  { breaker, host, refusedUntil, coolUntil, at }: Standing,
): EndpointHealth | null {
  const pauses = [breaker.open, host?.open ?? null].filter((pause) => pause !== null)
  const state: HealthState | null =
    refusedUntil > at
      ? 'refused'
      : coolUntil > at
        ? 'rate_limited'
        : pauses.length === 0
          ? null
          : pauses.some(({ until }) => until > at)
            ? 'failing'
            : 'half_open'
  if (state === null) return null
  const { endpoint, provider, credential, byokKey } = attempt
  const next = { refused: refusedUntil, rate_limited: coolUntil }
  const probe = Math.max(at, ...pauses.map(nextProbe))
  return {
    endpointId: endpoint.id,
    modelId: endpoint.modelId,
    providerSlug: provider.slug,
    providerName: provider.name,
    credentialId: credential.id,
    byokKeyId: byokKey?.id ?? null,
    state,
    cause: causeOf(attempt, kind, status),
    since,
    nextProbeAt: state === 'refused' || state === 'rate_limited' ? next[state] : probe,
    ...recentCounts(host?.open ? host : breaker, at),
  }
}
