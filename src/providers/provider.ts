import type { UpstreamCall } from '../core/attempt.ts'
import type { JsonObject } from '../core/events.ts'
import type { CredentialRecord, ProviderRecord } from '../core/snapshot.ts'

export interface PreparedBody {
  path: string
  headers: Record<string, string>
  body: JsonObject
  /** In place of the body. */
  form?: FormData
}

/** What one kind of provider adds to a dialect: address, credential, and for built-in ones the answer itself. */
export interface Provider {
  prepare(
    provider: ProviderRecord,
    credential: CredentialRecord,
    call: PreparedBody,
  ): UpstreamCall | Promise<UpstreamCall>
  /** Answers without a network, behind the same pipeline; absent: the call goes out. */
  answer?(call: UpstreamCall, signal: AbortSignal): Promise<Response>
}
