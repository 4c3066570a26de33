import type { UpstreamCall } from '../core/attempt.ts'
import type { CredentialRecord, ProviderKind, ProviderRecord } from '../core/snapshot.ts'
import { azure } from './azure.ts'
import { bedrock } from './bedrock.ts'
import { demo } from './demo.ts'
import { compatible, type Outbound, type Provider } from './provider.ts'
import { vertex } from './vertex.ts'

/** The code that prepares a call, by the kind of provider. */
export const providers = { compatible, demo, bedrock, azure, vertex } satisfies Record<ProviderKind, Provider>

/** Anthropic's API requires its version (https://docs.anthropic.com/en/api/versioning). */
const HEADERS: Readonly<Record<string, Record<string, string>>> = {
  messages: { 'anthropic-version': '2023-06-01' },
}

/** The call that lists the models, which costs nothing; null if the provider has none that we know of. */
export async function listingCall(
  provider: ProviderRecord,
  credential: CredentialRecord,
  outbound: Outbound,
): Promise<UpstreamCall | null> {
  const call = { path: '/models', headers: HEADERS[provider.dialect] ?? {}, body: {} }
  if (provider.kind === 'azure' && provider.apiVersion === undefined) {
    return asked(await providers.azure.prepare(provider, credential, call, outbound))
  }
  if (provider.kind !== 'compatible') return null
  // Cohere lists its models in the first version of its API alone.
  const baseUrl = provider.dialect === 'cohere' ? provider.baseUrl.replace(/\/v2$/, '/v1') : provider.baseUrl
  return asked(await compatible.prepare({ ...provider, baseUrl }, credential, call))
}

function asked({ url, headers }: UpstreamCall): UpstreamCall {
  const { 'content-type': _, ...others } = headers
  return { method: 'GET', url, headers: { ...others, accept: 'application/json' }, body: undefined }
}
