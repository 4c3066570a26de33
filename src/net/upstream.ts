import type { UpstreamCall } from '../core/attempt.ts'
import type { Cancellation } from '../core/cancellation.ts'
import type { UpstreamReply } from '../core/reply.ts'
import type { Timeouts } from '../core/snapshot.ts'

export interface SendOptions {
  /** The bulkhead: calls of one group share `maxInFlight` places until their body has ended. */
  group: string
  maxInFlight: number
  timeouts: Timeouts
  /** Closes the connection at once, before or after the headers. */
  cancellation: Cancellation
  /** In place of the network (built-in providers); clocks and bulkhead hold all the same. */
  answer?: ((call: UpstreamCall, signal: AbortSignal) => Promise<Response>) | undefined
}

/**
 * The one way out of the server to providers. Any status is an answer; no answer is an `UpstreamError`, and a
 * redirect is none. A body must be read to its end or left: until then it holds its place, and only a
 * connection whose body was read to the end serves the next call. So read on after a terminal marker.
 */
export interface Upstream {
  send(call: UpstreamCall, options: SendOptions): Promise<UpstreamReply>
  /** Calls whose body has not ended. */
  inFlight(): number
  close(): void
}
