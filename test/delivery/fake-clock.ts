import type { Clock } from '../../src/delivery/clock.ts'

export interface FakeClock extends Clock {
  /** Lets time pass: runs what is due, in order, with turns for the sockets between. */
  advance(ms: number, between?: () => Promise<void>): Promise<void>
  /** Sets the time of day alone, as an operator or NTP does. */
  step(ms: number): void
}

/** A clock that stands still. */
export function fakeClock(start = Date.UTC(2026, 10, 23)): FakeClock {
  let monotonic = 0
  let offset = start
  let timers: { at: number; work: () => void }[] = []
  return {
    now: () => offset + monotonic,
    after(ms, work) {
      const timer = { at: monotonic + ms, work }
      timers.push(timer)
      return () => {
        timers = timers.filter((each) => each !== timer)
      }
    },
    async advance(ms, between = () => Bun.sleep(0)) {
      const end = monotonic + ms
      for (;;) {
        const next = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
        if (next === undefined) break
        monotonic = Math.max(monotonic, next.at)
        timers = timers.filter((each) => each !== next)
        next.work()
        await between()
      }
      monotonic = end
    },
    step(ms) {
      offset += ms
    },
  }
}
