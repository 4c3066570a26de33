/**
 * The rest after a refusal that later requests would get too: of a credential, or of a model that the endpoint does not
 * have. After it one request at a time probes; each probe that is refused makes the next rest longer. Times are milliseconds
 * on a clock that never goes back.
 */
export interface Rest {
  readonly reason: 'refused' | 'unknown-model'
  readonly pace: RestPace
  readonly since: number
  pauseMs: number
  /** When the next request may probe. */
  until: number
  /** The start of the last probe; null: there was none since the last refusal. */
  probe: number | null
  /** The start of the last call, for the pace in panic mode. */
  calledAt: number
}

interface RestPace {
  readonly firstMs: number
  readonly longestMs: number
}

/** Permissions are granted at the provider: until then, or until the credential is replaced, it stays refused. */
export const REFUSED: RestPace = { firstMs: 600_000, longestMs: 600_000 }
/** A balance is topped up without a change here. */
export const UNPAID: RestPace = { firstMs: 30_000, longestMs: 60_000 }
/** Deployments are made and renamed at the provider. */
export const UNKNOWN_MODEL: RestPace = { firstMs: 60_000, longestMs: 3_600_000 }

/** A probe without a result holds back others for at most this long. */
const LONGEST_PROBE_MS = 30_000
/** An endpoint that nothing can replace is called once in this time. */
const PANIC_PACE_MS = 1_000

export const newRest = (reason: Rest['reason'], pace: RestPace, at: number): Rest => ({
  reason,
  pace,
  since: at,
  pauseMs: pace.firstMs,
  until: at + pace.firstMs,
  probe: null,
  calledAt: at,
})

/** When the next request may pass. In panic mode the rest of an unknown model only limits the pace. */
export const restsUntil = ({ reason, until, calledAt }: Rest, isPanic: boolean): number =>
  isPanic && reason === 'unknown-model' ? Math.min(until, calledAt + PANIC_PACE_MS) : until

/** A request begins: it is the probe if the rest is over. */
export function countCall(rest: Rest, at: number): void {
  rest.calledAt = at
  if (rest.until > at) return
  rest.probe = at
  rest.until = at + Math.min(rest.pauseMs, LONGEST_PROBE_MS)
}

/** Another refusal. Only the probe's makes the rest longer: others began before it, or in panic mode. */
export function refuseAgain(rest: Rest, began: number, at: number): void {
  if (began !== rest.probe) return
  rest.pauseMs = Math.min(rest.pace.longestMs, rest.pauseMs * 2)
  rest.until = at + rest.pauseMs
  rest.probe = null
}
