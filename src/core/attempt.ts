import type { ByokKey } from './byok.ts'
import type { DialectName } from './events.ts'
import type { CredentialRecord, EndpointRecord, ModelRecord, ProviderRecord } from './snapshot.ts'

/** One try: this model, at this endpoint, with this credential. The plan is a list of them, best first. */
export interface Attempt {
  readonly model: ModelRecord
  readonly endpoint: EndpointRecord
  readonly provider: ProviderRecord
  readonly credential: CredentialRecord
  /** Present if the credential is a BYOK key: the provider bills the workspace, not the operator. */
  readonly byokKey?: ByokKey
  /** What it is spoken to in: the caller's own dialect where the endpoint takes it, so that nothing is translated. */
  readonly dialect: DialectName
  /** The bound on output tokens to send although the caller set none (money bounds it); undefined: send the caller's. */
  readonly outputBound?: number
}

/** A request to a provider, ready to be sent. */
export interface UpstreamCall {
  readonly method: 'POST' | 'GET'
  readonly url: string
  readonly headers: Record<string, string>
  /** JSON text; a form is sent as `multipart/form-data`. */
  readonly body: string | FormData | undefined
}
