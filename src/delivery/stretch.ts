import type { OutboxEntry } from './outbox-reader.ts'

/** A batch as a stretch of positions. Its records are read again for each repetition, so what waits takes no memory. */
export interface Plan {
  /** Everything after this position up to `last` that the destination takes. */
  readonly after: number
  readonly last: number
  state: 'waiting' | 'sending' | 'done'
  /** Without content, because the destination refused its size. */
  readonly isBare: boolean
  /** The destination may have it already. */
  isRepeat: boolean
}

/** What a destination gets in order: the outbox, or a replay. */
export interface Stretch {
  /** Everything up to here is done. */
  cursor(): number
  /** Up to here it is planned. */
  planned(): number
  readonly isReplay: boolean
  /** The entries after a position, in order. */
  read(after: number, most: number): readonly OutboxEntry[]
  /** Adds a plan behind the others. */
  plan(plan: Plan): void
  nextWaiting(): Plan | undefined
  /** Replaces a plan by its halves. */
  replace(plan: Plan, halves: readonly Plan[]): void
  done(plan: Plan): void
  /** Gives up everything up to a position, except what is being sent. */
  skipTo(position: number): void
}

/** The order of plans and the cursor behind them. `onCursor` is called when the cursor has moved. */
export function createStretch(
  start: number,
  isReplay: boolean,
  read: Stretch['read'],
  onCursor: (cursor: number) => void,
): Stretch {
  let cursor = start
  let planned = start
  let plans: Plan[] = []

  function advance(): void {
    const before = cursor
    while (plans[0]?.state === 'done') cursor = Math.max(cursor, plans.shift()?.last ?? cursor)
    if (plans.length === 0) cursor = Math.max(cursor, planned)
    if (cursor !== before) onCursor(cursor)
  }

  return {
    isReplay,
    read,
    cursor: () => cursor,
    planned: () => planned,
    plan(plan) {
      plans.push(plan)
      planned = plan.last
      if (plan.state === 'done') advance()
    },
    nextWaiting: () => plans.find(({ state }) => state === 'waiting'),
    replace(plan, halves) {
      const at = plans.indexOf(plan)
      if (at >= 0) plans.splice(at, 1, ...halves)
    },
    done(plan) {
      plan.state = 'done'
      advance()
    },
    skipTo(position) {
      plans = plans.filter(({ state, last }) => state === 'sending' || last > position)
      planned = Math.max(planned, position)
      advance()
    },
  }
}
