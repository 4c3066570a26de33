import { collectsNothing, MOST_OPERATION_DAYS } from '../../core/data-policy.ts'
import type { ProviderPreferences } from '../../core/request.ts'
import type { EndpointRecord } from '../../core/snapshot.ts'

/** Why `provider.zdr` or `provider.data_collection` excludes an endpoint. Unknown is not yes. */
export function dataExclusion(
  endpoint: EndpointRecord,
  { zdr, dataCollection }: ProviderPreferences,
): { rule: string; sentence: string } | null {
  if (zdr === true && !endpoint.isZdr) {
    return { rule: 'data_policy:zdr', sentence: `${endpoint.providerSlug} ${whyNotZdr(endpoint)}` }
  }
  if (dataCollection === 'deny' && !collectsNothing(endpoint)) {
    return { rule: 'data_policy:training', sentence: `${endpoint.providerSlug} ${whyCollecting(endpoint)}` }
  }
  return null
}

const WHERE = 'in its "providers:" or "models:" entry'

function whyNotZdr({ dataPolicy = {} }: EndpointRecord): string {
  if (dataPolicy.zdr === 'never') return 'offers no zero data retention'
  if (dataPolicy.zdr === 'on_request') {
    return `retains no data only by agreement or by a setting of the account. If yours has it, set "data_policy.zdr" to "always" ${WHERE}`
  }
  return `is not known to retain no data. If it retains none, set "data_policy.zdr" to "always" ${WHERE}`
}

function whyCollecting({ dataPolicy: { training, retentionDays } = {} }: EndpointRecord): string {
  if (training === true) return 'may train on prompts'
  if (training === undefined) {
    return `is not known not to train on prompts. If it does not, set "data_policy.training" to false ${WHERE}`
  }
  if (retentionDays === undefined) {
    return `is not known to store prompts for a limited time. Set "data_policy.retention_days" ${WHERE}`
  }
  return `stores prompts for ${retentionDays} days; "data_collection": "deny" allows ${MOST_OPERATION_DAYS}`
}
