/** How much of something is let through in each minute. */
export interface Allowance {
  /** False: it is more than the minute has. */
  take(amount: number): boolean
}

const MINUTE_MS = 60_000

export function createAllowance(most: number): Allowance {
  let begunAt = 0
  let taken = 0
  return {
    take(amount) {
      const now = performance.now()
      if (now - begunAt >= MINUTE_MS) {
        begunAt = now
        taken = 0
      }
      taken += amount
      return taken <= most
    },
  }
}
