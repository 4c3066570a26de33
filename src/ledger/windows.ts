import type { Interval } from '../core/gate.ts'

export const INTERVALS = ['daily', 'weekly', 'monthly', 'lifetime'] as const satisfies readonly Interval[]

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
// 1970-01-01 was a Thursday: three days after a Monday.
const DAYS_SINCE_MONDAY_AT_EPOCH = 3

/** When the window that holds `at` began, in milliseconds since 1970: 00:00 UTC, weeks on Monday; 0 for `lifetime`. */
export const windowStart = (interval: Interval, at: number): number => windowsOf(at)[interval]

type Windows = Readonly<Record<Interval, number>>

// All gates of a request, and nearly all requests, ask for the same day.
let latest: Windows = windowsOfDay(0)

function windowsOf(at: number): Windows {
  const day = Math.floor(at / DAY_MS)
  if (latest.daily !== day * DAY_MS) latest = windowsOfDay(day)
  return latest
}

function windowsOfDay(day: number): Windows {
  const date = new Date(day * DAY_MS)
  return {
    daily: day * DAY_MS,
    weekly: (day - ((((day + DAYS_SINCE_MONDAY_AT_EPOCH) % 7) + 7) % 7)) * DAY_MS,
    monthly: Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1),
    lifetime: 0,
  }
}

/** When the window that holds `at` ends and the next begins; null for `lifetime`, which never resets. */
export function resetsAt(interval: Interval, at: number): number | null {
  switch (interval) {
    case 'daily':
      return windowStart('daily', at) + DAY_MS
    case 'weekly':
      return windowStart('weekly', at) + 7 * DAY_MS
    case 'monthly': {
      const date = new Date(at)
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
    }
    case 'lifetime':
      return null
  }
}

/** The start of the hour that holds `at`, in UTC. */
export const hourStart = (at: number): number => Math.floor(at / HOUR_MS) * HOUR_MS

/** `2026-11-22T00:00:00Z`: for sentences. */
export const formatInstant = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`
