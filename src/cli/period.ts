import { formatInstant } from '../ledger/windows.ts'
import { CommandError, EXIT } from './terminal.ts'

export interface Period {
  /** Milliseconds since 1970. */
  readonly from: number
  readonly until: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const UNIT_DAYS = { d: 1, w: 7 }

/**
 * Parses a period: `12h` is the last twelve hours, `7d` today (UTC) and the six days before it, `2027-01-31` from that day
 * on. `until` is a day or a time, exclusive; absent: now.
 */
export function periodOf(since: string, until: string | undefined, now: number): Period {
  const end = until === undefined ? now : instantOf(until, '--until')
  const start = startOf(since, end)
  if (start >= end)
    throw new CommandError(
      EXIT.usage,
      `--since ${since} (${formatInstant(start)}) is not before ${formatInstant(end)}: nothing lies between`,
    )
  return { from: start, until: end }
}

function startOf(since: string, end: number): number {
  const [, amount, unit] = /^(\d{1,4})([hdw])$/.exec(since) ?? []
  if (unit === 'h') return end - Number(amount) * HOUR_MS
  if (unit !== 'd' && unit !== 'w') return instantOf(since, '--since')
  // The end is exclusive, so the last day contains the millisecond before it.
  const lastDay = Math.floor((end - 1) / DAY_MS) * DAY_MS
  return lastDay - (Number(amount) * UNIT_DAYS[unit] - 1) * DAY_MS
}

function instantOf(text: string, flag: string): number {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text)
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z$/.test(text)
  const at = isDay ? Date.parse(`${text}T00:00:00Z`) : isTime ? Date.parse(text) : Number.NaN
  // `Date` accepts 31 February and returns a day in March.
  if (!Number.isNaN(at) && new Date(at).toISOString().startsWith(text.slice(0, 10))) return at
  throw new CommandError(
    EXIT.usage,
    `${flag} must be such as 12h, 7d, 8w (--since alone), 2027-01-31 or 2027-01-31T12:00:00Z, not ${text}`,
  )
}
