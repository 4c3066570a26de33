import type { UpstreamCall } from '../core/attempt.ts'
import type { Cancellation } from '../core/cancellation.ts'
import type { JsonObject } from '../core/events.ts'
import type { CredentialRecord, ProviderRecord } from '../core/snapshot.ts'
import type { Upstream } from '../net/upstream.ts'

export interface PreparedBody {
  path: string
  headers: Record<string, string>
  body: JsonObject
  /** In place of the body. */
  form?: FormData
}

/** The way out for what must be asked before the call itself, such as a token. */
export interface Outbound {
  readonly send: Upstream['send']
  /** Milliseconds since 1970. */
  now(): number
  /** When the caller disconnects. */
  readonly cancellation: Cancellation
}

/** What one kind of provider adds to a dialect: address, credential, and for built-in ones the answer itself. */
export interface Provider {
  prepare(
    provider: ProviderRecord,
    credential: CredentialRecord,
    call: PreparedBody,
    outbound?: Outbound,
  ): UpstreamCall | Promise<UpstreamCall>
  /** The provider refused this credential: what was derived from it is not shown again. */
  refused?(credential: CredentialRecord): void
  /** Answers without a network, behind the same pipeline; absent: the call goes out. */
  answer?(call: UpstreamCall, signal: AbortSignal): Promise<Response>
}
