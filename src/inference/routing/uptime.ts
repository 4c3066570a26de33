/** Counts successful and failed attempts in ring buffers of time slots. Counting is O(1); memory is fixed. */
export interface Uptime {
  count(at: number, isUp: boolean): void
  /** Success rate in percent over the last 5 minutes, 30 minutes or day; null without attempts. */
  percent(at: number, minutes: 5 | 30 | 1440): number | null
}

interface Slot {
  /** Slots since 1970. */
  number: number
  up: number
  down: number
}

const MINUTE_MS = 60_000
/** The day is counted in slots of 15 minutes, the half hour in minutes. */
const COARSE_MINUTES = 15

export function createUptime(): Uptime {
  const minutes = createSlots(MINUTE_MS, 30)
  const quarters = createSlots(COARSE_MINUTES * MINUTE_MS, 96)
  return {
    count(at, isUp) {
      minutes.count(at, isUp)
      quarters.count(at, isUp)
    },
    percent: (at, span) =>
      span === 1440 ? quarters.percent(at, span / COARSE_MINUTES) : minutes.percent(at, span),
  }
}

function createSlots(spanMs: number, slotCount: number) {
  const slots: Slot[] = []
  return {
    count(at: number, isUp: boolean): void {
      const number = Math.floor(at / spanMs)
      const known = slots[number % slotCount]
      const slot = known?.number === number ? known : { number, up: 0, down: 0 }
      slots[number % slotCount] = slot
      if (isUp) slot.up += 1
      else slot.down += 1
    },
    /** Over the last `count` slots, including the current one. */
    percent(at: number, count: number): number | null {
      const oldest = Math.floor(at / spanMs) - count
      let up = 0
      let down = 0
      for (const slot of slots) {
        if (slot === undefined || slot.number <= oldest) continue
        up += slot.up
        down += slot.down
      }
      return up + down === 0 ? null : Math.round((10_000 * up) / (up + down)) / 100
    },
  }
}
