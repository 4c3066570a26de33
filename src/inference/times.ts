import type { Timings } from '../core/result.ts'

/** When a request reached its stages, by the clock of `performance.now()`; 0: not yet. */
export interface Times {
  readonly arrivedAt: number
  planMs: number
  admittedAt: number
  /** The headers of the reply that is relayed. */
  repliedAt: number
  contentAt: number
  endedAt: number
  committedAt: number
}

export const newTimes = (arrivedAt: number): Times => ({
  arrivedAt,
  planMs: 0,
  admittedAt: 0,
  repliedAt: 0,
  contentAt: 0,
  endedAt: 0,
  committedAt: 0,
})

/** The length of each stage; undefined for those that were not reached. */
export function timingsOf(times: Times): Timings {
  const { arrivedAt, planMs, admittedAt, repliedAt, contentAt, endedAt, committedAt } = times
  const until = (from: number, to: number): number | undefined =>
    from === 0 || to === 0 ? undefined : rounded(to - from)
  return {
    admit: rounded((admittedAt || performance.now()) - arrivedAt - planMs),
    plan: rounded(planMs),
    connect: until(admittedAt, repliedAt || endedAt),
    first_byte: until(repliedAt, contentAt || endedAt),
    relay: until(contentAt, endedAt),
    commit: until(endedAt, committedAt),
  }
}

/** To a hundredth of a millisecond. */
const rounded = (ms: number): number => Math.max(0, Math.round(ms * 100) / 100)
