import { UpstreamError } from '../../core/errors.ts'
import { type GuardedOptions, guardedFetch } from '../../net/guarded.ts'
import { AGENT, unread } from './failure.ts'
import { ROBOTS_BYTES, type RobotsRules, readRobots } from './robots.ts'

/** RFC 9309 allows a day. Short, so that a site which changes its mind is heard. */
const KEPT_MS = 10 * 60_000
const MOST_KEPT = 500
const MOST_REDIRECTS = 5

type Guard = Pick<GuardedOptions, 'allow' | 'resolve' | 'signal' | 'timeoutMs'>

/** Throws if the robots.txt of the site forbids the page. The rules of a site are kept for some minutes. */
export type CheckRobots = (url: URL, guard: Guard) => Promise<void>

export function createRobotsCheck(now: () => number): CheckRobots {
  const kept = new Map<string, { until: number; rules: RobotsRules }>()
  return async (url, guard) => {
    const { origin } = url
    let known = kept.get(origin)
    if (known === undefined || known.until < now()) {
      known = { until: now() + KEPT_MS, rules: await rulesOf(origin, guard) }
      kept.delete(origin)
      kept.set(origin, known)
      for (const oldest of kept.keys()) {
        if (kept.size <= MOST_KEPT) break
        kept.delete(oldest)
      }
    }
    if (!known.rules.permits(`${url.pathname}${url.search}`))
      throw unread(`the robots.txt of ${url.host} does not allow it`)
  }
}

const ALL: RobotsRules = { permits: () => true }

/** Without a robots.txt everything is allowed; if it cannot be read, nothing is (RFC 9309, 2.3.1). */
async function rulesOf(origin: string, guard: Guard): Promise<RobotsRules> {
  const reply = await guardedFetch(`${origin}/robots.txt`, {
    ...guard,
    headers: { accept: 'text/plain' },
    limitBytes: ROBOTS_BYTES,
    maxRedirects: MOST_REDIRECTS,
  }).catch((error: unknown) => {
    // Too long to be read: no rule of it is known.
    if (error instanceof UpstreamError && error.kind === 'malformed') return null
    throw error
  })
  if (reply === null || reply.status >= 500)
    throw unread(`the robots.txt of ${URL.parse(origin)?.host} cannot be read`)
  if (reply.status < 200 || reply.status > 299) return ALL
  return readRobots(new TextDecoder().decode(reply.body), [AGENT])
}
