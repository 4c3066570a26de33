import type { Clock } from './clock.ts'
import type { DropReason, Report, SetAside } from './report.ts'

/** Counts what happened to the generations of a destination since the last report. */
export interface Tally {
  sent(generations: number): void
  /** Refused by number: the destination did not say which. */
  rejected(generations: number, message: string): void
  setAside(generationId: string, status: number | null, message: string): void
  dropped(dropped: Readonly<Partial<Record<DropReason, number>>>): void
  failure(message: string): void
  success(): void
  /** Something else is to be reported. */
  changed(): void
  /** Null: nothing happened. */
  take(): Taken | null
}

type Taken = Pick<Report, 'sent' | 'failed' | 'setAside' | 'dropped' | 'lastSuccessAt' | 'lastError'>

export function createTally({ now }: Pick<Clock, 'now'>, onChange: () => void): Tally {
  let isChanged = false
  let [sent, failed] = [0, 0]
  let setAside: SetAside[] = []
  let dropped: Partial<Record<DropReason, number>> = {}
  let lastSuccessAt: number | null = null
  let lastError: Report['lastError'] = null
  const changed = (): void => {
    isChanged = true
    onChange()
  }
  return {
    changed,
    sent(generations) {
      sent += generations
      changed()
    },
    rejected(generations, message) {
      failed += generations
      lastError = { at: now(), message }
      changed()
    },
    setAside(generationId, status, message) {
      failed += 1
      setAside.push({ generationId, at: now(), status, message })
      lastError = { at: now(), message }
      changed()
    },
    dropped(more) {
      for (const [reason, count] of entriesOf(more)) dropped[reason] = (dropped[reason] ?? 0) + count
      changed()
    },
    failure(message) {
      lastError = { at: now(), message }
      changed()
    },
    success() {
      lastSuccessAt = now()
      changed()
    },
    take() {
      if (!isChanged) return null
      const taken = { sent, failed, setAside, dropped, lastSuccessAt, lastError }
      isChanged = false
      ;[sent, failed, setAside, dropped] = [0, 0, [], {}]
      return taken
    },
  }
}

/** The reasons with their counts, typed. */
export const entriesOf = (dropped: Readonly<Partial<Record<DropReason, number>>>): [DropReason, number][] =>
  DROP_REASONS.flatMap((reason) => {
    const count = dropped[reason] ?? 0
    return count > 0 ? [[reason, count]] : []
  })

const DROP_REASONS: readonly DropReason[] = ['age', 'bytes', 'too_old', 'too_large', 'pruned', 'discarded']
