import type { Attempt } from '../../core/attempt.ts'
import type { EndpointHealth } from '../../core/endpoint-health.ts'
import type { UpstreamError } from '../../core/errors.ts'
import { neverBack } from '../../core/never-back.ts'
import { countRefusal, isAboutProvider } from './account.ts'
import { type Breaker, blockedUntil, countBegin, countFailure, countSuccess, newBreaker } from './breaker.ts'
import {
  accountOf,
  type HealthOptions,
  knownAccount,
  knownState,
  type Memory,
  type State,
  stateOf,
  stateOfAccount,
} from './health-memory.ts'
import { changeOf, reportOf, wellAgain } from './health-report.ts'
import {
  countCall,
  newRest,
  REFUSED,
  type Rest,
  refuseAgain,
  restsUntil,
  UNKNOWN_MODEL,
  UNPAID,
} from './rest.ts'

/** Why an endpoint is skipped, and until when (milliseconds since 1970). */
export interface Cooldown {
  /** `refused`: the provider rejected the credential. */
  reason: 'rate-limit' | 'failing' | Rest['reason']
  until: number
}

/**
 * Rate limits, refused credentials and breakers, per endpoint and credential, and per credential if several models of a
 * provider refuse; failures to connect count per host. In memory
 * only: a restart clears them.
 */
export interface Health {
  /**
   * `isPanic`: more than half of the endpoints that could serve the request are skipped. Then breakers only limit the pace,
   * as the rest of an unknown model does, and a rate limit without a stated time is ignored.
   */
  cooldownOf(attempt: Attempt, isPanic: boolean): Cooldown | null
  /** True if the provider gave an answer in the last 30 seconds, and nothing failed here since the last success. */
  isWell(attempt: Attempt): boolean
  /** Called before each attempt. Returns its start for `failed`. */
  trying(attempt: Attempt): number
  succeeded(attempt: Attempt, firstContentMs: number): void
  /** Called for failures before the first content. Truncated streams and aborts are not reported here. */
  failed(attempt: Attempt, error: UpstreamError, began: number): void
  /** The credential was replaced: its history no longer applies. */
  forget(credentialId: string): void
  /** Entries or the catalogue changed: models that endpoints did not know are called again. */
  forgetUnknown(): void
  /** Every endpoint that is skipped or slowed. */
  troubled(): EndpointHealth[]
}

const COOL_WITHOUT_HINT_MS = 5_000
/** An endpoint that answered in this time has the model: its refusal is about something else in the request. */
const HAS_MODEL_MS = 60_000
/** While no retry is allowed, the next request looks again after it. */
const LOOK_AGAIN_MS = 1_000
const WELL_MS = 30_000

export function createHealth(options: HealthOptions): Health {
  const memory: Memory = {
    ...options,
    now: neverBack(options.clock),
    states: new Map(),
    hosts: new Map(),
    answers: new Map(),
    accounts: new Map(),
  }
  return {
    cooldownOf(attempt, isPanic) {
      const at = memory.now()
      const block = blockOf(memory, attempt, isPanic, at)
      // From the monotonic clock to the system's clock.
      if (block !== null) block.until += options.clock() - at
      return block
    },
    isWell(attempt) {
      const { baseUrl } = attempt.provider
      const answeredAt = memory.answers.get(baseUrl)
      if (answeredAt === undefined || memory.now() - answeredAt > WELL_MS) return false
      const failures = knownState(memory, attempt)?.breaker.consecutive ?? 0
      return failures === 0 && (memory.hosts.get(baseUrl)?.consecutive ?? 0) === 0
    },
    trying(attempt) {
      const at = memory.now()
      const state = knownState(memory, attempt)
      if (state) countBegin(state.breaker, at)
      const account = knownAccount(memory, attempt)
      if (account) countBegin(account.breaker, at)
      const rest = account?.rest ?? state?.rest
      if (rest) countCall(rest, at)
      const host = memory.hosts.get(attempt.provider.baseUrl)
      if (host) countBegin(host, at)
      return at
    },
    succeeded: (attempt, firstContentMs) => succeed(memory, attempt, firstContentMs),
    failed: (attempt, error, began) => fail(memory, attempt, error, began),
    forget(credentialId) {
      for (const ofEndpoint of memory.states.values()) ofEndpoint.delete(credentialId)
      for (const account of memory.accounts.keys())
        if (account.endsWith(`\n${credentialId}`)) memory.accounts.delete(account)
    },
    forgetUnknown() {
      for (const ofEndpoint of memory.states.values())
        for (const state of ofEndpoint.values())
          if (state.rest?.reason === 'unknown-model') Object.assign(state, { rest: null, trouble: null })
    },
    troubled: () => troubledIn(memory),
  }
}

/** Null: it may be called now. Its time is on the clock that never goes back. */
function blockOf(memory: Memory, attempt: Attempt, isPanic: boolean, at: number): Cooldown | null {
  const state = knownState(memory, attempt)
  const account = knownAccount(memory, attempt)
  const rest = account?.rest ?? state?.rest
  const restUntil = rest ? restsUntil(rest, isPanic) : 0
  if (rest && restUntil > at) return { reason: rest.reason, until: restUntil }
  const coolUntil = Math.max(coolUntilOf(account, isPanic), coolUntilOf(state, isPanic))
  if (coolUntil > at) return { reason: 'rate-limit', until: coolUntil }
  const host = memory.hosts.size === 0 ? undefined : memory.hosts.get(attempt.provider.baseUrl)
  const accountUntil = account ? blockedUntil(account.breaker, isPanic, at) : 0
  const until = Math.max(
    state ? blockedUntil(state.breaker, isPanic, at) : 0,
    host ? blockedUntil(host, isPanic, at) : 0,
  )
  if (account && accountUntil > until) return { reason: account.reason, until: accountUntil }
  if (until > 0) return { reason: 'failing', until }
  const isProbe = [state?.breaker, account?.breaker, host].some((breaker) => (breaker?.open ?? null) !== null)
  return isProbe && !isPanic && !memory.mayRetry() ? { reason: 'failing', until: at + LOOK_AGAIN_MS } : null
}

const coolUntilOf = (
  limited: Pick<State, 'coolUntil' | 'isCoolHinted'> | undefined,
  isPanic: boolean,
): number => (limited && (!isPanic || limited.isCoolHinted) ? limited.coolUntil : 0)

function succeed(memory: Memory, attempt: Attempt, firstContentMs: number): void {
  const state = stateOf(memory, attempt)
  const at = memory.now()
  memory.answers.set(attempt.provider.baseUrl, at)
  const began = at - firstContentMs
  const rested = state.rest !== null
  const account = knownAccount(memory, attempt)
  const isWellAgain = account !== undefined && began >= account.shutAt
  if (isWellAgain) memory.accounts.delete(accountOf(attempt))
  const wasOpen = countSuccess(state.breaker, began, at)
  const host = memory.hosts.get(attempt.provider.baseUrl)
  const wasHostOpen = host !== undefined && countSuccess(host, began, at)
  state.coolUntil = 0
  state.rest = null
  state.answeredAt = at
  if (state.breaker.open === null) state.trouble = null
  if (wasOpen || rested || wasHostOpen || (isWellAgain && account.shutAt > 0))
    memory.onChange(wellAgain(attempt))
}

function fail(memory: Memory, attempt: Attempt, error: UpstreamError, began: number): void {
  const { kind, status, errorType } = error
  const isUnknown = kind === 'unsuitable' && error.reach === 'endpoint'
  if (kind === 'caller' || kind === 'capacity' || (kind === 'unsuitable' && !isUnknown)) return
  const state = stateOf(memory, attempt)
  const at = memory.now()
  if (isUnknown && at - state.answeredAt < HAS_MODEL_MS) return
  const wasRefused = state.trouble?.last.kind === 'credential'
  state.trouble = { attempt, last: { kind, status, errorType }, since: state.trouble?.since ?? at }
  // An access token may have expired early: the next request gets another one.
  if (kind === 'credential' && hasTokens(attempt) && !wasRefused) return
  if (isAboutProvider(error) && error.reach !== 'account') suspect(memory, attempt, error, began)
  if (kind === 'rate-limit') cool(memory, attempt, state, error, at)
  else if (kind === 'credential' || isUnknown) rest(memory, attempt, state, error, began)
  else if (countFailure(breakerFor(memory, attempt, state, kind), began, at, memory.random))
    memory.onChange(changeOf(attempt, error))
}

/** A failure to connect says nothing about the endpoint: it counts for the host, so for all of its endpoints. */
function breakerFor(
  { hosts }: Memory,
  { provider: { baseUrl } }: Attempt,
  { breaker }: State,
  kind: UpstreamError['kind'],
): Breaker {
  if (kind !== 'connect') return breaker
  const host = hosts.get(baseUrl) ?? newBreaker()
  hosts.set(baseUrl, host)
  return host
}

/** The refusals of several models shut the account. */
function suspect(memory: Memory, attempt: Attempt, error: UpstreamError, began: number): void {
  const account = stateOfAccount(memory, attempt)
  const { modelId } = attempt.endpoint
  if (countRefusal(account, modelId, error, began, memory.now(), memory.random))
    memory.onChange(changeOf(attempt, error, 'several'))
}

/** The provider limits the rate of this model, or of all models of the credential. */
function cool(memory: Memory, attempt: Attempt, state: State, error: UpstreamError, at: number): void {
  const { retryAfterMs, reach } = error
  const account = reach === 'account' ? stateOfAccount(memory, attempt) : undefined
  const limited = account ?? state
  const wasCool = limited.coolUntil > at
  limited.isCoolHinted = retryAfterMs !== null
  limited.coolUntil = Math.max(limited.coolUntil, at + (retryAfterMs ?? COOL_WITHOUT_HINT_MS))
  if (wasCool) return
  if (account) account.shutAt = at
  memory.onChange(changeOf(attempt, error, account && 'all'))
}

/** The endpoint refuses every request, for its model or with this credential; perhaps every endpoint of the credential does. */
function rest(memory: Memory, attempt: Attempt, state: State, error: UpstreamError, began: number): void {
  const { status, errorType, kind } = error
  const at = memory.now()
  const known = knownAccount(memory, attempt)?.rest ?? state.rest
  if (known) {
    refuseAgain(known, began, at)
    return
  }
  const isUnpaid = errorType === 'payment_required'
  // A 403 can mean this model only; an empty account is empty for every model, whatever the status.
  if (kind === 'unsuitable') state.rest = newRest('unknown-model', UNKNOWN_MODEL, at)
  else if (status === 401 || isUnpaid)
    Object.assign(stateOfAccount(memory, attempt), {
      rest: newRest('refused', isUnpaid ? UNPAID : REFUSED, at),
      shutAt: at,
    })
  else state.rest = newRest('refused', REFUSED, at)
  memory.onChange(changeOf(attempt, error))
}

function troubledIn(memory: Memory): EndpointHealth[] {
  const at = memory.now()
  const lead = memory.clock() - at
  const found: EndpointHealth[] = []
  for (const ofEndpoint of memory.states.values())
    for (const state of ofEndpoint.values()) {
      if (state.trouble === null) continue
      const { attempt } = state.trouble
      const host = memory.hosts.get(attempt.provider.baseUrl)
      const report = reportOf(state.trouble, { state, account: knownAccount(memory, attempt), host, at })
      if (report)
        found.push({ ...report, since: report.since + lead, nextProbeAt: report.nextProbeAt + lead })
    }
  return found
}

const hasTokens = ({ credential: { entra, google } }: Attempt): boolean =>
  entra !== undefined || google !== undefined
