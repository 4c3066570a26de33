/** The errors of requests that no endpoint can serve. */
import type { Attempt } from '../../core/attempt.ts'
import { type Availability, GatewayError, NEVER_RETRY } from '../../core/errors.ts'
import type { Refusal } from '../../core/refusal.ts'
import { howToConfigure } from '../../providers/environment.ts'
import type { Cooldown } from './health.ts'
import { DOCS_URL } from './ineligible.ts'
import type { PlanInput } from './plan-input.ts'

export function unknownModel(name: string, { snapshot, request }: PlanInput): GatewayError {
  const shown = JSON.stringify(name.slice(0, 120))
  const refusal = { reason: 'model' } as const
  const known = { requested_models: request.models, retryable: false, docs_url: DOCS_URL }
  if (snapshot.models.isKnown(name)) {
    const offering = snapshot.models.offeredBy?.(name) ?? []
    return new GatewayError(
      404,
      `The model ${shown} is known, but no provider that offers it is configured here. ${howToConfigure(offering)}`,
      { availability: { code: 'no_endpoints', ...known, affected_providers: [...offering] }, refusal },
    )
  }
  const nearest = snapshot.models.nearest(name, 3)
  const hint = nearest.length > 0 ? ` The nearest names are ${nearest.join(', ')}` : ''
  return new GatewayError(404, `There is no model ${shown}.${hint}`, {
    metadata: { error_type: 'not_found' },
    availability: { code: 'model_not_found', ...known, fallback_models: nearest },
    refusal,
  })
}

/** A provider gave this answer a moment ago, so it is not called for it again. */
const unknownAtProvider = ({ model, provider }: Attempt): GatewayError =>
  new GatewayError(404, `${provider.name} does not know the model of its endpoint for ${model.id}`, {
    metadata: { error_type: 'not_found', provider_name: provider.name },
    refusal: { reason: 'model' },
  })

const UNAVAILABLE: Refusal = { reason: 'unavailable' }

/** 429 if any endpoint is rate-limited, 404 if every one is known not to have the model, else 503. */
export function allCoolingDown(
  attempts: readonly Attempt[],
  cooldowns: readonly (Cooldown | null)[],
  now: number,
): GatewayError {
  const all = attempts.flatMap((attempt, index) => {
    const cooldown = cooldowns[index]
    return cooldown ? [{ attempt, cooldown }] : []
  })
  const cooling = all.filter(({ cooldown }) => cooldown.reason !== 'unknown-model')
  const [unknown] = all
  if (unknown && cooling.length === 0) return unknownAtProvider(unknown.attempt)
  const soonest = cooling.toSorted((a, b) => a.cooldown.until - b.cooldown.until)[0]
  const limited = cooling.filter(({ cooldown }) => cooldown.reason === 'rate-limit')
  const first = limited.toSorted((a, b) => a.cooldown.until - b.cooldown.until)[0] ?? soonest
  const names = [...new Set(cooling.map(({ attempt }) => attempt.provider.name))].join(', ')
  const availability = (code: Availability['code']): Availability => ({
    code,
    retryable: true,
    retry_after: seconds,
    requested_models: [...new Set(attempts.map(({ model }) => model.id))],
    affected_providers: [...new Set(attempts.map(({ provider }) => provider.slug))],
    docs_url: DOCS_URL,
  })
  const seconds = Math.max(1, Math.ceil(((soonest?.cooldown.until ?? now) - now) / 1000))
  if (first?.cooldown.reason === 'rate-limit') {
    const { model, provider } = first.attempt
    return new GatewayError(
      429,
      `${provider.name}'s rate limit for ${model.id} is reached; retry in ${seconds} s`,
      {
        metadata: { error_type: 'rate_limit_exceeded', provider_name: provider.name },
        headers: { 'retry-after': String(seconds) },
        availability: availability('capacity_exhausted'),
        refusal: UNAVAILABLE,
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
        // Without a time: Codex knows no `x-should-retry` and would wait for minutes before it shows the message.
        headers: NEVER_RETRY,
        refusal: UNAVAILABLE,
      },
    )
  }
  return new GatewayError(
    503,
    `Every endpoint of this model has failed recently (${names}); retry in ${seconds} s`,
    {
      headers: { 'retry-after': String(seconds) },
      availability: availability('temporarily_unavailable'),
      refusal: UNAVAILABLE,
    },
  )
}
