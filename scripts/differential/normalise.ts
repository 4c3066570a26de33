/** Takes out of a reply what differs between two runs: ids, times and durations. */

/** Ids that a gateway makes, each named by the order in which it first appears. */
const IDS =
  /\b(?:gen|resp|msg|rs|fc|ctc|ws|call|toolu|req|chatcmpl|ig|file|cmpl)[-_][A-Za-z0-9_-]{12,}|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g

const TIMES =
  /"(created|created_at|completed_at|latency|generation_time|latency_ms|total_ms|provider_latency|throughput|tokens_per_second|expires_at|moderation_latency|ms)":\s*(?:-?\d+(?:\.\d+)?|"[^"]*")/g

/** Of the routing metadata, and of a generation's `routing`. */
const TIMINGS = /"timings":\{[^{}]*\}/g

/** A thought's signature may carry the id of a call inside. */
const SEALED = /[A-Za-z0-9+/_-]{80,}={0,2}/g
/** What the gateway seals for a client to carry has a nonce in it. */
const CARRIED = /\bsluice\.v\d+\.[A-Za-z0-9_-]+/g
const BOUNDARY = /-{2,}(?:WebKitFormBoundary)?[0-9A-Za-z]{16,}/g

const opened = (sealed: string): string => {
  const text = Buffer.from(sealed, 'base64').toString('latin1')
  return text.includes('"id":"call_') ? text : sealed
}

export function normalised(text: string): string {
  const names = new Map<string, string>()
  return text
    .replace(CARRIED, '<carried>')
    .replace(SEALED, opened)
    .replace(BOUNDARY, '<boundary>')
    .replace(TIMES, '"$1":"<time>"')
    .replace(TIMINGS, '"timings":"<time>"')
    .replace(IDS, (id) => {
      const known = names.get(id) ?? `<id ${names.size + 1}>`
      names.set(id, known)
      return known
    })
    .replace(/127\.0\.0\.1:\d+/g, '<address>')
    .replace(/: SLUICE PROCESSING\n\n/g, '')
}
