import { retryAfterMs } from '../net/headers.ts'
import type { BatchContext, DeliveryReply, Meaning } from './kind.ts'

/** What the status of a reply means where a destination does not say more. */
export function meaningOfStatus(
  { status, headers }: Pick<DeliveryReply, 'status' | 'headers'>,
  { now }: Pick<BatchContext, 'now'>,
): Meaning {
  const answered = `answered ${status}`
  if (status >= 200 && status < 300) return { outcome: 'accepted' }
  if (status === 401 || status === 403) {
    return { outcome: 'unauthorized', sentence: `${answered}: it refuses the credential` }
  }
  if (status >= 300 && status < 400) {
    return { outcome: 'unauthorized', sentence: `${answered}: it redirects, which is not followed` }
  }
  if (status === 413) return { outcome: 'too-large', sentence: `${answered}: the batch is too large` }
  if (status === 404 || status === 405 || status === 410) {
    return { outcome: 'unauthorized', sentence: `${answered}: there is nothing at this address` }
  }
  if (status === 408 || status === 425 || status === 429) {
    return retry(`${answered}: it takes no more at this time`, headers, now)
  }
  if (status >= 500 || status < 200) return retry(`${answered}: it failed`, headers, now)
  return { outcome: 'refused', sentence: `${answered}: it does not accept the event` }
}

/** A vendor's quota may be by the day; what waits is dropped by age in the end. */
const LONGEST_WAIT_MS = 24 * 3_600_000

function retry(sentence: string, headers: Headers, now: number): Meaning {
  const afterMs = retryAfterMs(headers, now, LONGEST_WAIT_MS)
  return afterMs === null ? { outcome: 'retry', sentence } : { outcome: 'retry', sentence, afterMs }
}
