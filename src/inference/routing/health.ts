import type { Attempt } from '../../core/attempt.ts'
import type { UpstreamError } from '../../core/errors.ts'
import { neverBack } from '../../core/never-back.ts'

/** Why an endpoint is skipped, and until when (milliseconds since 1970). */
export interface Cooldown {
  /** `refused`: the provider rejected the gateway's credential at the last failure. */
  reason: 'rate-limit' | 'failing' | 'refused'
  until: number
}

/** Cooldowns and breakers, per endpoint and credential. In memory only: a restart clears them. */
export interface Health {
  /** `isOnly`: no other endpoint can serve the request, so the breaker needs many more failures to open. */
  cooldownOf(attempt: Attempt, isOnly: boolean): Cooldown | null
  /** Called before each attempt. After an ejection one request probes the endpoint; others skip it until the result. */
  trying(attempt: Attempt): void
  succeeded(attempt: Attempt, firstContentMs: number): void
  /** Called for failures before the first content. Truncated streams and aborts are not reported here. */
  failed(attempt: Attempt, error: UpstreamError): void
  /** Median of the last first-content times, in ms; null before the first. */
  latencyMs(attempt: Attempt): number | null
  /** The credential was replaced: its history no longer applies. */
  forget(credentialId: string): void
}

interface Second {
  second: number
  failures: number
  successes: number
}

interface State {
  consecutive: number
  /** Failures and successes of each of the last 30 seconds: a ring buffer. */
  seconds: Second[]
  ejections: number
  openUntil: number
  coolUntil: number
  /** The provider sent Retry-After, so the cooldown applies even to a model's only endpoint. */
  isCoolHinted: boolean
  /** The provider rejected the credential at the last failure. */
  isRefused: boolean
  latencies: number[]
}

const WINDOW_SECONDS = 30
const CONSECUTIVE_TO_OPEN = 5
const SAMPLES_TO_OPEN = 20
const OPEN_MS = 30_000
const OPEN_CAP_MS = 300_000
const PROBE_MS = 1_000
const COOL_WITHOUT_HINT_MS = 5_000
const MAX_LATENCIES = 32

const newState = (): State => ({
  consecutive: 0,
  seconds: [],
  ejections: 0,
  openUntil: 0,
  coolUntil: 0,
  isCoolHinted: false,
  isRefused: false,
  latencies: [],
})

export function createHealth(clock: () => number): Health {
  const now = neverBack(clock)
  /** Converts `until` from the monotonic clock to the system's clock. */
  const cooldown = (reason: Cooldown['reason'], until: number, at: number): Cooldown => ({
    reason,
    until: clock() + until - at,
  })
  /** Keyed by endpoint, then by credential. */
  const states = new Map<string, Map<string, State>>()
  const stateOf = ({ endpoint, credential }: Attempt): State => {
    let ofEndpoint = states.get(endpoint.id)
    if (!ofEndpoint) {
      ofEndpoint = new Map()
      states.set(endpoint.id, ofEndpoint)
    }
    let state = ofEndpoint.get(credential.id)
    if (!state) {
      state = newState()
      ofEndpoint.set(credential.id, state)
    }
    return state
  }
  return {
    cooldownOf(attempt, isOnly) {
      const state = stateOf(attempt)
      const at = now()
      if (state.coolUntil > at && (!isOnly || state.isCoolHinted))
        return cooldown('rate-limit', state.coolUntil, at)
      if (state.openUntil > at && (!isOnly || isHopeless(state, at)))
        return cooldown(state.isRefused ? 'refused' : 'failing', state.openUntil, at)
      return null
    },
    trying(attempt) {
      const state = stateOf(attempt)
      const at = now()
      if (state.openUntil > 0 && state.openUntil <= at) state.openUntil = at + PROBE_MS
    },
    succeeded(attempt, firstContentMs) {
      const state = stateOf(attempt)
      state.consecutive = 0
      state.ejections = 0
      state.openUntil = 0
      state.coolUntil = 0
      secondOf(state, now()).successes += 1
      state.latencies.push(firstContentMs)
      if (state.latencies.length > MAX_LATENCIES) state.latencies.shift()
    },
    failed(attempt, error) {
      const state = stateOf(attempt)
      const at = now()
      if (error.kind === 'rate-limit') {
        state.isCoolHinted = error.retryAfterMs !== null
        state.coolUntil = Math.max(state.coolUntil, at + (error.retryAfterMs ?? COOL_WITHOUT_HINT_MS))
        return
      }
      if (error.kind === 'caller' || error.kind === 'unsuitable' || error.kind === 'capacity') return
      state.isRefused = error.kind === 'credential'
      state.consecutive += 1
      secondOf(state, at).failures += 1
      if (shouldOpen(state, at)) open(state, at)
    },
    latencyMs(attempt) {
      const sorted = [...stateOf(attempt).latencies].sort((a, b) => a - b)
      return sorted[sorted.length >> 1] ?? null
    },
    forget(credentialId) {
      for (const ofEndpoint of states.values()) ofEndpoint.delete(credentialId)
    },
  }
}

function secondOf(state: State, at: number): Second {
  const second = Math.floor(at / 1000)
  const slot = second % WINDOW_SECONDS
  const known = state.seconds[slot]
  if (known?.second === second) return known
  const fresh = { second, failures: 0, successes: 0 }
  state.seconds[slot] = fresh
  return fresh
}

function recentCounts(state: State, at: number): { failures: number; successes: number } {
  const oldest = Math.floor(at / 1000) - WINDOW_SECONDS
  const sum = { failures: 0, successes: 0 }
  for (const known of state.seconds) {
    if (!known || known.second <= oldest) continue
    sum.failures += known.failures
    sum.successes += known.successes
  }
  return sum
}

function shouldOpen(state: State, at: number): boolean {
  if (state.consecutive >= CONSECUTIVE_TO_OPEN) return true
  const { failures, successes } = recentCounts(state, at)
  return failures + successes >= SAMPLES_TO_OPEN && failures >= successes
}

/** The rule for a model's only endpoint: 20 failures within 30 s without a success. */
const isHopeless = (state: State, at: number): boolean =>
  state.consecutive >= SAMPLES_TO_OPEN && recentCounts(state, at).failures >= SAMPLES_TO_OPEN

function open(state: State, at: number): void {
  if (state.openUntil > at + PROBE_MS && !isHopeless(state, at)) return
  state.ejections += 1
  state.openUntil = at + Math.min(OPEN_CAP_MS, OPEN_MS * state.ejections)
}
