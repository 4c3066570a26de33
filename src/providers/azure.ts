import type { UpstreamCall } from '../core/attempt.ts'
import type { CredentialRecord, EntraClient, ProviderRecord } from '../core/snapshot.ts'
import { compatible, type Outbound, type PreparedBody, type Provider } from './provider.ts'
import { askForToken, createTokenSource, type TokenSource } from './token.ts'

/** One for each credential, for as long as it is configured. */
const sources = new WeakMap<CredentialRecord, TokenSource>()

/**
 * Azure OpenAI and Foundry. A key is shown in `api-key`; a client of Entra gets a token. With a dated API version the
 * path names the deployment (`/openai/deployments/{deployment}/chat/completions?api-version=…`), which is what the model is
 * called here; without one it is the v1 API, where the body names it.
 */
export const azure: Provider = {
  async prepare(provider, credential, call, outbound) {
    if (call.path.startsWith('/messages')) return prepareFor(claudeAt(provider), credential, call, outbound)
    const addressed = provider.apiVersion === undefined ? call : { ...call, path: versioned(provider, call) }
    return prepareFor(provider, credential, addressed, outbound)
  },
  refused(credential) {
    sources.get(credential)?.forget()
  },
}

async function prepareFor(
  provider: ProviderRecord,
  credential: CredentialRecord,
  call: PreparedBody,
  outbound: Outbound | undefined,
): Promise<UpstreamCall> {
  if (credential.entra === undefined) return compatible.prepare(provider, credential, call)
  if (outbound === undefined) throw new Error('a token cannot be got without a way out')
  const source = sources.get(credential) ?? entraTokens(credential.entra)
  sources.set(credential, source)
  const secret = await source.get(outbound)
  const { credentialHeader: _, ...bearer } = provider
  return compatible.prepare(bearer, { id: credential.id, secret }, call)
}

/** Foundry serves Claude beside the APIs of OpenAI, without an API version. */
const claudeAt = (provider: ProviderRecord): ProviderRecord => ({
  ...provider,
  baseUrl: `${provider.baseUrl.replace(/\/openai(?:\/v1)?$/, '')}/anthropic/v1`,
})

/** `/responses` is the one path that is not below a deployment; `preview` is a word of the v1 API. */
function versioned({ apiVersion = '' }: ProviderRecord, { path, body, form }: PreparedBody): string {
  const query = `?api-version=${encodeURIComponent(apiVersion)}`
  if (path.startsWith('/responses') || !/^\d/.test(apiVersion)) return path + query
  const deployment = String(form?.get('model') ?? body['model'] ?? '')
  return `/deployments/${encodeURIComponent(deployment)}${path}${query}`
}

/** Tokens of Microsoft Entra, for a client with a secret (client credentials, RFC 6749 §4.4). */
const entraTokens = ({ tokenUrl, clientId, clientSecret, scope }: EntraClient): TokenSource =>
  createTokenSource((outbound) =>
    askForToken(
      tokenUrl,
      { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret, scope },
      outbound,
    ),
  )
