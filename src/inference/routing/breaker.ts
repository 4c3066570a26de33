/**
 * The breaker of one endpoint and credential, or of one host. Times are milliseconds on a clock that never goes back.
 *
 * It opens after failures in a row, or if too many of the last 30 seconds failed, and then pauses for 1, 2, 4 … 30 s. Only
 * requests that began after a pause can start the next one, so a burst in flight opens it once. After a pause it is half
 * open: 1, 2, 4 … requests a second may probe it until one gives content, which closes it.
 */
export interface Breaker {
  /** Failures since the last success. */
  consecutive: number
  /** Failures and successes of each of the last 30 seconds: a ring buffer. */
  readonly seconds: Second[]
  /** Openings since the window was last healthy: the pause doubles with each. */
  openings: number
  /** Null: closed. */
  open: Pause | null
  /** The pace in panic mode, where nothing else can serve a request; null: any pace. */
  slowed: Pause | null
  /** The time of the last closing. Failures of requests that began before it do not count. */
  closedAt: number
}

export interface Pause {
  readonly since: number
  readonly until: number
  probes: number
  /** The start of the first probe. */
  probingSince: number
}

interface Second {
  second: number
  failures: number
  successes: number
}

const WINDOW_SECONDS = 30
/** Below the retries that are always allowed (`retry-budget.ts`), so that a first opening costs no caller an answer. */
const CONSECUTIVE_TO_OPEN = 3
const SAMPLES_TO_OPEN = 10
/** It opens if one of this many requests in the window failed. */
const FAILING_SHARE = 3
const FAILURES_TO_SLOW = 20
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000
/** The last quarter of a pause is random, so that gateways do not probe at once. */
const JITTER = 0.25

export const newBreaker = (): Breaker => ({
  consecutive: 0,
  seconds: [],
  openings: 0,
  open: null,
  slowed: null,
  closedAt: 0,
})

/** When the next request may pass; 0: now. In panic mode an open breaker only limits the pace. */
export function blockedUntil({ open, slowed }: Breaker, isPanic: boolean, at: number): number {
  const pause = isPanic ? slowed : open
  if (pause === null) return 0
  const next = nextProbe(pause)
  return next > at ? next : 0
}

/** Probe n may start in second log2(n) of the probing: one in the first second, two in the next, then four. */
export const nextProbe = ({ until, probes, probingSince }: Pause): number =>
  probes === 0 ? until : probingSince + Math.floor(Math.log2(probes + 1)) * 1_000

/** A request begins: it is a probe if a pause is over. */
export function countBegin({ open, slowed }: Breaker, at: number): void {
  if (open !== null) countProbe(open, at)
  if (slowed !== null) countProbe(slowed, at)
}

function countProbe(pause: Pause, at: number): void {
  if (pause.until > at) return
  if (pause.probes === 0) pause.probingSince = at
  pause.probes += 1
}

/**
 * True if this success closed the breaker: that of a probe does, and that of an older request unless too many others fail.
 * `began` is when its request began.
 */
export function countSuccess(breaker: Breaker, began: number, at: number): boolean {
  const { open, slowed } = breaker
  breaker.consecutive = 0
  secondOf(breaker, at).successes += 1
  const isBad = (open !== null || breaker.openings > 0) && isFailing(breaker, at)
  if (!isBad) breaker.openings = 0
  breaker.slowed = null
  const isClosing = open !== null && (!isBad || began >= open.until)
  if (isClosing) breaker.open = null
  if (isClosing || slowed !== null) breaker.closedAt = at
  return isClosing
}

/** True if this failure opened a closed breaker. `began` is when its request began; `most`: so many in a row open it. */
export function countFailure(
  breaker: Breaker,
  began: number,
  at: number,
  random: () => number,
  most = CONSECUTIVE_TO_OPEN,
): boolean {
  if (began < breaker.closedAt) return false
  breaker.consecutive += 1
  secondOf(breaker, at).failures += 1
  const { open, slowed } = breaker
  if (slowed === null ? isHopeless(breaker, at) : began >= slowed.until)
    breaker.slowed = pauseFrom(at, FIRST_PAUSE_MS, random)
  const isNews = open === null ? breaker.consecutive >= most || isFailing(breaker, at) : began >= open.until
  if (!isNews) return false
  breaker.open = pauseFrom(at, Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** breaker.openings), random)
  breaker.openings += 1
  return open === null
}

const pauseFrom = (at: number, ms: number, random: () => number): Pause => ({
  since: at,
  until: at + Math.round(ms * (1 - JITTER * random())),
  probes: 0,
  probingSince: 0,
})

function secondOf({ seconds }: Breaker, at: number): Second {
  const second = Math.floor(at / 1000)
  const slot = second % WINDOW_SECONDS
  const known = seconds[slot]
  if (known?.second === second) return known
  const fresh = { second, failures: 0, successes: 0 }
  seconds[slot] = fresh
  return fresh
}

/** Failures and successes of the last 30 seconds. */
export function recentCounts({ seconds }: Breaker, at: number): { failures: number; successes: number } {
  const oldest = Math.floor(at / 1000) - WINDOW_SECONDS
  const sum = { failures: 0, successes: 0 }
  for (const known of seconds) {
    if (!known || known.second <= oldest) continue
    sum.failures += known.failures
    sum.successes += known.successes
  }
  return sum
}

function isFailing(breaker: Breaker, at: number): boolean {
  const { failures, successes } = recentCounts(breaker, at)
  const count = failures + successes
  return count >= SAMPLES_TO_OPEN && failures * FAILING_SHARE >= count
}

/** Twenty failures within 30 s without a success between them. */
const isHopeless = (breaker: Breaker, at: number): boolean =>
  breaker.consecutive >= FAILURES_TO_SLOW && recentCounts(breaker, at).failures >= FAILURES_TO_SLOW
