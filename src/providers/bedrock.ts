import { regionIn } from './aws-region.ts'
import { signCall } from './aws-signature.ts'
import { compatible } from './call.ts'
import type { Provider } from './provider.ts'

/** The name that calls are signed for, which is not that of the host (`bedrock-runtime`). */
const SERVICE = 'bedrock'

/**
 * Amazon Bedrock: a key of its own is shown as any other; access keys of AWS sign the call and stay here. Settings let
 * no signing provider through without a region.
 */
export const bedrock: Provider = {
  async prepare(provider, credential, call, outbound) {
    const prepared = await compatible.prepare(provider, credential, call)
    const { body } = prepared
    if (credential.aws === undefined || typeof body !== 'string') return prepared
    const region = provider.region ?? regionIn(provider.baseUrl)
    if (region === undefined) throw new Error(`${provider.slug} has no region to sign for`)
    return signCall(
      { ...prepared, body },
      credential.aws,
      { service: SERVICE, region },
      new Date(outbound?.now() ?? Date.now()),
    )
  },
}
