import { badRequest } from '../core/errors.ts'
import type { ModelRateLimits, RateLimits } from '../core/rate-limits.ts'
import type { RateLimitsBody } from './rate-limits-schema.ts'

/**
 * What a body sets, with every field; null where nothing is limited. Throws a `GatewayError` 400 for an entry that
 * limits nothing or names a model a second time.
 */
export function rateLimitsOf(body: NonNullable<RateLimitsBody> | null): RateLimits | null {
  if (body === null) return null
  const limits: RateLimits = {
    requests_per_minute: body.requests_per_minute ?? null,
    tokens_per_minute: body.tokens_per_minute ?? null,
    concurrent_requests: body.concurrent_requests ?? null,
    models: (body.models ?? []).map((entry) => ({
      model: entry.model,
      requests_per_minute: entry.requests_per_minute ?? null,
      tokens_per_minute: entry.tokens_per_minute ?? null,
    })),
  }
  checkModels(limits.models)
  const { models, ...counts } = limits
  return models.length === 0 && Object.values(counts).every((count) => count === null) ? null : limits
}

function checkModels(models: readonly ModelRateLimits[]): void {
  const named = new Set<string>()
  for (const [index, { model, requests_per_minute, tokens_per_minute }] of models.entries()) {
    const path = `rate_limits.models[${index}]`
    if (named.has(model)) throw badRequest('another entry names this model already', `${path}.model`)
    named.add(model)
    if (requests_per_minute === null && tokens_per_minute === null)
      throw badRequest('limits nothing: set requests_per_minute, tokens_per_minute or both', path)
  }
}
