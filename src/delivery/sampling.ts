import { createHash } from 'node:crypto'

/** What decides whether a generation is in a sample. */
export interface Sampled {
  readonly sessionId: string | null
  readonly traceId: string
}

/**
 * Whether a generation is in the sample of this rate (0 to 1). A session is sampled as one; without a session a trace is,
 * and each request without a trace of its caller has one of its own. All destinations use the same hash, so a sample of a
 * higher rate contains every sample of a lower one.
 */
export function isInSample({ sessionId, traceId }: Sampled, rate: number): boolean {
  if (rate >= 1) return true
  const unit = sessionId === null ? `trace:${traceId}` : `session:${sessionId}`
  return createHash('sha256').update(unit).digest().readUIntBE(0, HASH_BYTES) < rate * HASHES
}

const HASH_BYTES = 6
const HASHES = 256 ** HASH_BYTES
