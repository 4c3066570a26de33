import { type Candidate, withFirst } from './candidates.ts'
import type { Recent } from './recent.ts'

/** A figure that is older is checked again. */
const STALE_MS = 15_000
/** One request in 20 at most checks an old figure. */
const REQUESTS_PER_CHECK = 20
/** A first figure often includes the connection's set-up, so a median of fewer attempts decides nothing. */
const FIRST_TRIES = 3

/**
 * Of the first `count` candidates, puts an endpoint first whose figure is unknown or old, so that the fastest is found
 * whatever was measured first, and found again when speeds change:
 * - an endpoint without an attempt yet gets the next request, then one that answered fewer than three;
 * - an endpoint without an attempt in the last 15 seconds gets one request of every 20, together with the others like it,
 *   the one that waits longest first.
 */
export function exploredFirst(
  candidates: Candidate[],
  count: number,
  recent: (endpointId: string) => Recent | undefined,
  now: number,
): Candidate[] {
  const patience = REQUESTS_PER_CHECK * (countEndpoints(candidates, count) - 1)
  let explored = candidates[0]
  let longest = now - STALE_MS
  let isNew = false
  for (const candidate of candidates.slice(0, count)) {
    const known = recent(candidate.attempt.endpoint.id)
    if (known === undefined || known.triedAt === null) {
      explored = candidate
      break
    }
    const { triedAt, tries, triedCount, ofModel, latencyMs } = known
    if (isNew) continue
    if (tries < FIRST_TRIES && latencyMs.value() !== null) {
      explored = candidate
      isNew = true
      continue
    }
    // Each endpoint waits for its own turn, so the turns of all together are one in 20.
    if (triedAt > longest || ofModel.count - triedCount < patience) continue
    longest = triedAt
    explored = candidate
  }
  return explored === undefined || explored === candidates[0] ? candidates : withFirst(candidates, explored)
}

/** Attempts at one endpoint are adjacent. */
function countEndpoints(candidates: readonly Candidate[], most: number): number {
  let count = 0
  let id = ''
  for (const { attempt } of candidates.slice(0, most)) {
    if (attempt.endpoint.id !== id) count += 1
    id = attempt.endpoint.id
  }
  return count
}
