/** The errors of requests that no endpoint can serve. */
import type { Attempt } from '../../core/attempt.ts'
import { badRequest, GatewayError, NEVER_RETRY, notFound, unavailable } from '../../core/errors.ts'
import type { Snapshot } from '../../core/snapshot.ts'
import { howToConfigure } from '../../providers/environment.ts'
import type { Considered } from './explain.ts'
import type { Cooldown } from './health.ts'

export function unknownModel(name: string, snapshot: Snapshot): GatewayError {
  const shown = JSON.stringify(name.slice(0, 120))
  if (snapshot.models.isKnown(name)) {
    return notFound(
      `The model ${shown} is known, but no provider that offers it is configured here. ${howToConfigure(snapshot.models.offeredBy?.(name) ?? [])}`,
    )
  }
  const nearest = snapshot.models.nearest(name, 3)
  const hint = nearest.length > 0 ? ` The nearest names are ${nearest.join(', ')}` : ''
  return new GatewayError(404, `There is no model ${shown}.${hint}`, {
    metadata: { error_type: 'not_found' },
  })
}

/** The most specific exclusion determines the status: 400 for a missing price or a wrong route, 403 for a guardrail. */
export function nothingEligible(name: string, considered: readonly Considered[]): GatewayError {
  const exclusions = considered.flatMap((each) => each.exclusions.slice(0, 1))
  const shown = JSON.stringify(name.slice(0, 120))
  const unpriced = exclusions.find((exclusion) => exclusion.rule === 'unpriced')
  if (unpriced) return badRequest(unpriced.sentence)
  const wrongRoute = exclusions.find(({ rule }) => rule === 'modality' || rule === 'input')
  if (wrongRoute) return badRequest(wrongRoute.sentence)
  const guardrail = exclusions.find(({ rule }) => rule === 'guardrail')
  if (guardrail) {
    return new GatewayError(403, `${shown} may not be used with this key: ${guardrail.sentence}`, {
      metadata: { error_type: 'permission_denied' },
    })
  }
  if (exclusions.length === 0) {
    return notFound(`The model ${shown} is known, but no provider that offers it is configured here`)
  }
  const rules = [...new Set(exclusions.map((exclusion) => exclusion.sentence))].slice(0, 4).join('; ')
  return new GatewayError(404, `No endpoint of ${shown} fits this request: ${rules}`, {
    metadata: { error_type: 'not_found', excluded_by: [...new Set(exclusions.map(({ rule }) => rule))] },
  })
}

/** 429 if any endpoint is rate-limited, else 503. */
export function allCoolingDown(
  attempts: readonly Attempt[],
  cooldowns: readonly (Cooldown | null)[],
  now: number,
): GatewayError {
  const cooling = attempts.flatMap((attempt, index) => {
    const cooldown = cooldowns[index]
    return cooldown ? [{ attempt, cooldown }] : []
  })
  const soonest = cooling.toSorted((a, b) => a.cooldown.until - b.cooldown.until)[0]
  const limited = cooling.filter(({ cooldown }) => cooldown.reason === 'rate-limit')
  const first = limited.toSorted((a, b) => a.cooldown.until - b.cooldown.until)[0] ?? soonest
  const names = [...new Set(cooling.map(({ attempt }) => attempt.provider.name))].join(', ')
  const seconds = Math.max(1, Math.ceil(((soonest?.cooldown.until ?? now) - now) / 1000))
  if (first?.cooldown.reason === 'rate-limit') {
    const { model, provider } = first.attempt
    return new GatewayError(
      429,
      `${provider.name}'s rate limit for ${model.id} is reached; retry in ${seconds} s`,
      {
        metadata: { error_type: 'rate_limit_exceeded', provider_name: provider.name },
        headers: { 'retry-after': String(seconds) },
      },
    )
  }
  if (cooling.every(({ cooldown }) => cooldown.reason === 'refused')) {
    const isOwn = cooling.every(({ attempt }) => attempt.byokKey !== undefined)
    return new GatewayError(
      503,
      isOwn
        ? `${names} rejected the workspace's BYOK key: store a valid one, or disable it`
        : `${names} rejected this gateway's credential; the operator must replace it`,
      {
        metadata: { error_type: 'provider_unavailable' },
        headers: { 'retry-after': String(seconds), ...NEVER_RETRY },
      },
    )
  }
  return unavailable(
    `Every endpoint of this model has failed recently (${names}); retry in ${seconds} s`,
    seconds,
  )
}
