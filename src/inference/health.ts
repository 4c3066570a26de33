import type { Attempt } from '../core/attempt.ts'
import type { UpstreamError } from '../core/errors.ts'

/** Why an endpoint is not tried now, and until when (milliseconds since 1970). */
export interface Block {
  reason: 'rate-limit' | 'failing'
  until: number
}

/** What this gateway has seen of its endpoints. In memory: a restart forgets. Kept per (endpoint, credential). */
export interface Health {
  /** `isOnly`: no other endpoint could serve the request, which makes the breaker far slower to open. */
  blockOf(attempt: Attempt, isOnly: boolean): Block | null
  /** Marks a try: of a breaker that is due again, one request probes and the others wait for what it finds. */
  trying(attempt: Attempt): void
  succeeded(attempt: Attempt, firstContentMs: number): void
  /** Failures before the first content. Cuts in mid-stream, callers' mistakes and aborts are not reported here. */
  failed(attempt: Attempt, error: UpstreamError): void
  /** Median of the last first-content times, in ms; null before the first. */
  latencyMs(attempt: Attempt): number | null
}

interface State {
  consecutive: number
  /** Times of the failures and successes of the last 30 s. */
  failures: number[]
  successes: number[]
  ejections: number
  openUntil: number
  coolUntil: number
  /** The provider named the time itself, so even an only endpoint is left alone until then. */
  isCoolHinted: boolean
  latencies: number[]
}

const WINDOW_MS = 30_000
const CONSECUTIVE_TO_OPEN = 5
const SAMPLES_TO_OPEN = 20
const OPEN_MS = 30_000
const OPEN_CAP_MS = 300_000
const PROBE_MS = 1_000
const COOL_WITHOUT_HINT_MS = 5_000
const LATENCIES_KEPT = 32

export function createHealth(now: () => number): Health {
  const states = new Map<string, State>()
  const stateOf = (attempt: Attempt): State => {
    const key = `${attempt.endpoint.id}\n${attempt.credential.id}`
    let state = states.get(key)
    if (!state) {
      state = {
        consecutive: 0,
        failures: [],
        successes: [],
        ejections: 0,
        openUntil: 0,
        coolUntil: 0,
        isCoolHinted: false,
        latencies: [],
      }
      states.set(key, state)
    }
    return state
  }
  return {
    blockOf(attempt, isOnly) {
      const state = stateOf(attempt)
      const at = now()
      if (state.coolUntil > at && (!isOnly || state.isCoolHinted))
        return { reason: 'rate-limit', until: state.coolUntil }
      if (state.openUntil > at && (!isOnly || isHopeless(state, at)))
        return { reason: 'failing', until: state.openUntil }
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
      remember(state.successes, now())
      if (shouldOpen(state, now())) open(state, now())
      state.latencies.push(firstContentMs)
      if (state.latencies.length > LATENCIES_KEPT) state.latencies.shift()
    },
    failed(attempt, error) {
      const state = stateOf(attempt)
      const at = now()
      if (error.kind === 'rate-limit') {
        state.isCoolHinted = error.retryAfterMs !== null
        state.coolUntil = Math.max(state.coolUntil, at + (error.retryAfterMs ?? COOL_WITHOUT_HINT_MS))
        return
      }
      if (error.kind === 'caller' || error.kind === 'capacity') return
      state.consecutive += 1
      remember(state.failures, at)
      if (shouldOpen(state, at)) open(state, at)
    },
    latencyMs(attempt) {
      const sorted = [...stateOf(attempt).latencies].sort((a, b) => a - b)
      return sorted[sorted.length >> 1] ?? null
    },
  }
}

function remember(times: number[], at: number): void {
  times.push(at)
  while (times.length > 0 && (times[0] ?? at) <= at - WINDOW_MS) times.shift()
}

const recent = (times: readonly number[], at: number): number =>
  times.filter((time) => time > at - WINDOW_MS).length

function shouldOpen(state: State, at: number): boolean {
  if (state.consecutive >= CONSECUTIVE_TO_OPEN) return true
  const failures = recent(state.failures, at)
  const all = failures + recent(state.successes, at)
  return all >= SAMPLES_TO_OPEN && failures * 2 >= all
}

/** The rule for a model's only endpoint: twenty failures within 30 s and not one success. */
const isHopeless = (state: State, at: number): boolean =>
  state.consecutive >= SAMPLES_TO_OPEN && recent(state.failures, at) >= SAMPLES_TO_OPEN

function open(state: State, at: number): void {
  if (state.openUntil > at + PROBE_MS && !isHopeless(state, at)) return
  state.ejections += 1
  state.openUntil = at + Math.min(OPEN_CAP_MS, OPEN_MS * state.ejections)
}
