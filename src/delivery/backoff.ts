const FIRST_MS = 1_000
const LONGEST_MS = 5 * 60_000

/**
 * The wait before the n-th repetition (n from 1): random, from one second to twice the longest wait before, at most five
 * minutes. Full jitter, so that gateways that failed together do not return together.
 */
export const backoffMs = (failures: number, random: () => number): number =>
  Math.max(FIRST_MS, Math.round(random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** failures)))
