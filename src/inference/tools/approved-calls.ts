import type { EndedCall } from './ended-call.ts'

/**
 * The calls that users have approved: an approval is for one call, whatever came of it. A request that is sent again, also
 * while the first one runs, gets the outcome of that call. In memory: stored responses have theirs (`withMadeCalls`).
 */
export interface ApprovedCalls {
  /** `key` names the workspace, the approval and what was approved. */
  once(key: string, run: () => Promise<EndedCall>): Promise<EndedCall>
}

const KNOWN_MS = 3_600_000
/** A result has up to 64 kB. */
const MOST_CALLS = 500

interface Known {
  readonly at: number
  readonly ended: Promise<EndedCall>
}

export function createApprovedCalls(now: () => number): ApprovedCalls {
  /** The oldest first. */
  const known = new Map<string, Known>()

  function forget(): void {
    for (const [key, { at }] of known) {
      if (known.size <= MOST_CALLS && now() - at < KNOWN_MS) return
      known.delete(key)
    }
  }

  return {
    once(key, run) {
      forget()
      const former = known.get(key)
      if (former !== undefined) return former.ended
      const ended = run()
      known.set(key, { at: now(), ended })
      return ended
    },
  }
}
