import { isLoopback } from '../config/readers.ts'
import type { Config } from '../config.ts'
import { unauthorized } from '../core/errors.ts'
import { hashKey } from '../core/keys.ts'
import type { Snapshot } from '../core/snapshot.ts'
import { authenticate, namesKey, tokenOf } from '../http/caller.ts'
import type { Incoming } from '../http/incoming.ts'

export interface MetricsAccessParts {
  readonly config: Pick<Config, 'metricsToken' | 'host' | 'publicUrl' | 'trustedProxies'>
  readonly snapshot: { current(): Snapshot }
  now(): number
}

const MISSING =
  'Metrics need the token of SLUICE_METRICS_TOKEN, or a management key: send it in the header "Authorization: Bearer <token>"'

/** Headers by which a reverse proxy names the client. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']

/**
 * Who may read metrics: the token, a management key, and without SLUICE_METRICS_TOKEN every program of this machine, if
 * nothing else can reach the server. A request through a reverse proxy, or from a web page under a foreign name, does not
 * count as one of this machine. Throws a `GatewayError`: 401, or 403 for an inference key.
 */
export function createMetricsAccess({
  config,
  snapshot,
  now,
}: MetricsAccessParts): (incoming: Incoming) => void {
  const { metricsToken, host, publicUrl, trustedProxies } = config
  const tokenHash = metricsToken === null ? null : hashKey(metricsToken)
  const isPrivate =
    isLoopback(host) && trustedProxies.length === 0 && (publicUrl === null || isLocalUrl(publicUrl))
  return (incoming) => {
    if (namesKey(incoming.request)) {
      const token = tokenOf(incoming.request)
      // Hashes are compared, so that the time reveals nothing about the token.
      if (tokenHash !== null && token !== undefined && hashKey(token) === tokenHash) return
      authenticate(incoming, snapshot.current(), 'management', now())
      return
    }
    if (tokenHash !== null || !isPrivate || !isLocal(incoming)) throw unauthorized(MISSING)
  }
}

const isLocalUrl = (url: string): boolean => isLoopback(bare(new URL(url).hostname))
const bare = (host: string): string => host.replace(/^\[|\]$/g, '')

function isLocal({ request, connection }: Incoming): boolean {
  const address = connection?.requestIP(request)?.address
  const { headers } = request
  const url = URL.parse(`http://${headers.get('host') ?? ''}`)
  return (
    address !== undefined &&
    isLoopback(address) &&
    url !== null &&
    isLoopback(bare(url.hostname)) &&
    FORWARDED.every((name) => !headers.has(name))
  )
}
