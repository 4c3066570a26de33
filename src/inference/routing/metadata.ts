import type { Attempt } from '../../core/attempt.ts'
import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import type { AttemptOutcome } from '../../core/generation.ts'
import type { RoutingMetadata } from '../../core/result.ts'
import type { Plan } from './plan.ts'

const HEADERS = [
  'x-service-metadata',
  'x-service-experimental-metadata',
  'x-openrouter-metadata',
  'x-openrouter-experimental-metadata',
]

/**
 * Reads the documented header, its older form, and the two that OpenRouter's clients send. Throws a `GatewayError` 400
 * that names the header if its value is unknown.
 */
export function wantsRoutingMetadata(headers: Headers): boolean {
  let isWanted = false
  for (const name of HEADERS) {
    const value = headers.get(name)?.trim().toLowerCase() ?? ''
    if (!VALUES.includes(value)) throw badRequest('must be enabled or disabled', `header ${name}`)
    isWanted ||= value === 'enabled'
  }
  return isWanted
}

const VALUES = ['', 'enabled', 'disabled']

/** `answered`: the attempt that replied; null if none did. */
export function routingMetadata(
  plan: Plan,
  tries: readonly AttemptOutcome[],
  answered: Attempt | null,
  dropped: readonly string[],
  outputBound: number | null,
  pipeline?: JsonObject[],
): RoutingMetadata {
  const available = endpointsOf(plan.eligible).map(({ model, provider, endpoint }) => ({
    model: model.id,
    provider: provider.name,
    selected: endpoint.id === answered?.endpoint.id,
  }))
  const selected = available.find((candidate) => candidate.selected)
  const params: Record<string, unknown> = {}
  if (dropped.length > 0) params['dropped_parameters'] = dropped
  if (outputBound !== null) params['max_tokens'] = outputBound
  return {
    requested: plan.requested,
    strategy: plan.strategy,
    summary: `available=${available.length}, selected=${selected?.provider ?? 'none'}`,
    attempt: tries.length,
    is_byok: answered?.byokKey !== undefined,
    region: null,
    endpoints: { total: available.length, available },
    attempts: tries.map(({ modelId, providerName, status }) => ({
      model: modelId,
      provider: providerName,
      status: status ?? 0,
    })),
    ...(Object.keys(params).length > 0 ? { params } : {}),
    ...(pipeline ? { pipeline } : {}),
  }
}

/** One attempt per endpoint, regardless of its number of credentials. */
function endpointsOf(attempts: readonly Attempt[]): Attempt[] {
  const ofEndpoint = new Map<string, Attempt>()
  for (const attempt of attempts) {
    if (!ofEndpoint.has(attempt.endpoint.id)) ofEndpoint.set(attempt.endpoint.id, attempt)
  }
  return [...ofEndpoint.values()]
}
