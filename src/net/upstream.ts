import type { UpstreamCall } from '../core/attempt.ts'
import type { Cancellation } from '../core/cancellation.ts'
import { UpstreamError } from '../core/errors.ts'
import type { UpstreamReply } from '../core/reply.ts'
import type { Timeouts } from '../core/snapshot.ts'

export interface SendOptions {
  /** The bulkhead: calls of one group share `maxInFlight` places until their body has ended. */
  group: string
  /** The endpoint that is called, for `inFlightByEndpoint`. */
  endpoint?: string | undefined
  maxInFlight: number
  timeouts: Timeouts
  /** Closes the connection at once, before or after the headers. */
  cancellation: Cancellation
  /** Answers instead of the network (built-in providers); clocks and bulkhead apply as well. */
  answer?: ((call: UpstreamCall, signal: AbortSignal) => Promise<Response>) | undefined
}

/**
 * The server's only client for providers. Any status is a reply; a redirect or no reply is an `UpstreamError`. A body
 * must be read to its end or cancelled: until then it occupies its place. A connection is reused only after its body was
 * read to the end, so read on after a terminal marker.
 */
export interface Upstream {
  send(call: UpstreamCall, options: SendOptions): Promise<UpstreamReply>
  /** Calls whose body has not ended: of one group, or of all. */
  inFlight(group?: string): number
  /** The same of each endpoint that has any. */
  readonly inFlightByEndpoint: ReadonlyMap<string, number>
  close(): void
}

/** The codes of Bun's `fetch` (1.4.5) and of node's sockets. Their messages change and are not read. */
const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the host name does not resolve',
  EAI_AGAIN: 'the host name could not be resolved now',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed before the reply had ended',
  EPIPE: 'the connection was closed while the request was sent',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ConnectionClosed: 'the connection was closed before the reply had ended',
  InvalidHTTPResponse: 'the reply is not valid HTTP',
  Malformed_HTTP_Response: 'the reply is not valid HTTP',
  ERR_INVALID_URL: 'the URL is not valid',
  CERT_HAS_EXPIRED: 'the TLS certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the TLS certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the TLS certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the TLS certificate has no known issuer',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the TLS certificate has no known issuer',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the TLS certificate is for another host',
}

/**
 * Any error of a connection as an `UpstreamError`: `timeout` if the network itself timed out, else `connect`, with the
 * system's code. With a code the cause is left out: it contains the URL, and some providers take their key in the query.
 */
export function connectionFailure(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error
  const code = codeOf(error)
  if (code === null) return new UpstreamError('connect', 'the request could not be sent', { cause: error })
  if (code === 'ETIMEDOUT') return new UpstreamError('timeout', 'the connection timed out', { code })
  return new UpstreamError('connect', REASONS[code] ?? `the connection failed (${code})`, { code })
}

function codeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null
  return typeof error.code === 'string' && /^\w{1,64}$/.test(error.code) ? error.code : null
}
