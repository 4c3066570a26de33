/** Words for operators about the health of endpoints: for the log and for GET /endpoints/health. */
import type { Attempt } from '../../core/attempt.ts'
import type { EndpointHealth, HealthChange, HealthState } from '../../core/endpoint-health.ts'
import type { UpstreamError, UpstreamFailure } from '../../core/errors.ts'
import type { Account } from './account.ts'
import { type Breaker, nextProbe, recentCounts } from './breaker.ts'
import type { Rest } from './rest.ts'

/** Without the provider's text, which may repeat a request. */
type Failure = Pick<UpstreamError, 'kind' | 'status' | 'errorType'>

/** The failures of an endpoint and credential since the last success. */
export interface Trouble {
  readonly attempt: Attempt
  readonly last: Failure
  /** The time of the first failure. */
  readonly since: number
}

interface Standing {
  readonly state: { readonly breaker: Breaker; readonly rest: Rest | null; readonly coolUntil: number }
  readonly account: Account | undefined
  readonly host: Breaker | undefined
  readonly at: number
}

/** How many models of the credential a failure holds for: `all`, as the provider stated, or `several` that failed. */
type Extent = 'all' | 'several' | undefined

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

const lineOf = (
  { endpoint, provider, credential }: Attempt,
  message: string,
  isWell: boolean,
): HealthChange => ({
  isWell,
  message,
  endpointId: endpoint.id,
  providerSlug: provider.slug,
  credentialId: credential.id,
})

export const changeOf = (attempt: Attempt, failure: Failure, extent?: Extent): HealthChange =>
  lineOf(attempt, `${causeOf(attempt, failure, extent)}; ${whatNext(attempt, failure, extent)}`, false)

export const wellAgain = (attempt: Attempt): HealthChange =>
  lineOf(attempt, `${whichOf(attempt)} answers again`, true)

const whichOf = ({ provider, model }: Attempt): string => `${provider.name} (${model.id})`

function causeOf(attempt: Attempt, { kind, status }: Failure, extent: Extent): string {
  const { provider, endpoint } = attempt
  if (extent === 'all') return `the rate limit of ${provider.name} for ${nameOf(attempt)} is reached`
  if (extent === 'several')
    return `several models of ${provider.name} refuse ${nameOf(attempt)} at once${answered(status)}`
  if (kind === 'credential') return `${provider.name} rejected ${nameOf(attempt)}${answered(status)}`
  if (kind === 'unsuitable')
    return `${whichOf(attempt)} does not know the model ${JSON.stringify(endpoint.upstreamId)}${answered(status)}`
  if (kind === 'rate-limit') return `the rate limit of ${whichOf(attempt)} is reached`
  return `${kind === 'connect' ? provider.name : whichOf(attempt)} ${WORDS[kind] ?? 'answers with errors'}${answered(status)}`
}

function whatNext({ byokKey }: Attempt, { kind, errorType }: Failure, extent: Extent): string {
  if (extent === 'all') return 'all of its models are skipped until the limit ends'
  if (extent === 'several') return 'all of its models are skipped and probed until one answers'
  if (kind === 'unsuitable')
    return 'it is skipped, and probed after a minute, later once an hour. Correct "upstream_id" of the model, or remove the model from the entry'
  if (errorType === 'payment_required')
    return `it is probed once a minute until it works. ${byokKey ? 'Its workspace must add credits at the provider' : 'Add credits at the provider'}`
  if (kind === 'credential')
    return `it is not used for 10 minutes. ${byokKey ? 'Its workspace must store a valid one' : 'Replace it, or grant it access at the provider'}`
  if (kind === 'rate-limit') return 'it is skipped until the limit ends'
  return 'it is skipped and probed until it answers'
}

const STATE_OF: Record<Rest['reason'], HealthState> = {
  refused: 'refused',
  'unknown-model': 'unknown_model',
}

/** The state, and when the next request may call it; null: it is called as usual. */
function stateOf({ state, account, host, at }: Standing): [HealthState, nextProbeAt: number] | null {
  const rest = account?.rest ?? state.rest
  if (rest) return [rest.until > at ? STATE_OF[rest.reason] : 'half_open', Math.max(at, rest.until)]
  const coolUntil = Math.max(state.coolUntil, account?.coolUntil ?? 0)
  if (coolUntil > at) return ['rate_limited', coolUntil]
  const breakers = [state.breaker, account?.breaker, host]
  const pauses = breakers.map((breaker) => breaker?.open ?? null).filter((pause) => pause !== null)
  if (pauses.length === 0) return null
  const isPaused = pauses.some(({ until }) => until > at)
  return [isPaused ? 'failing' : 'half_open', Math.max(at, ...pauses.map(nextProbe))]
}

function extentOf({ account, at }: Standing): Extent {
  if (account === undefined || account.rest) return undefined
  return account.coolUntil > at ? 'all' : account.breaker.open ? 'several' : undefined
}

/** Null: it is called as usual. Times are on the scale of `at`. */
export function reportOf({ attempt, last, since }: Trouble, standing: Standing): EndpointHealth | null {
  const found = stateOf(standing)
  if (found === null) return null
  const [state, nextProbeAt] = found
  const { host, at } = standing
  const { endpoint, provider, credential, byokKey } = attempt
  return {
    endpointId: endpoint.id,
    modelId: endpoint.modelId,
    providerSlug: provider.slug,
    providerName: provider.name,
    credentialId: credential.id,
    byokKeyId: byokKey?.id ?? null,
    state,
    cause: causeOf(attempt, last, extentOf(standing)),
    since,
    nextProbeAt,
    ...recentCounts(host?.open ? host : standing.state.breaker, at),
  }
}
