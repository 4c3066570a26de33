import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import type { RoutedRequest } from '../../core/request.ts'
import { GATEWAY_FIELDS } from '../gateway-fields.ts'

/**
 * The caller's own body for a provider that takes the same form: unknown fields survive, nulls and the gateway's own
 * fields do not, and `provider.options.<slug>` is added for the provider that it names.
 */
export function forwardedBody(
  { body }: RoutedRequest,
  { endpoint, provider }: Attempt,
  leftOut: readonly string[] = [],
): JsonObject {
  const forwarded: JsonObject = {}
  for (const [name, value] of Object.entries(body)) {
    if (value !== null && !GATEWAY_FIELDS.includes(name) && !leftOut.includes(name)) forwarded[name] = value
  }
  return { ...forwarded, ...providerOptions(body, provider.slug), model: endpoint.upstreamId }
}

/** What the caller wrote for one provider alone. */
export function providerOptions({ provider }: JsonObject, slug: string): JsonObject {
  const options = isObject(provider) ? provider['options'] : undefined
  const own = isObject(options) ? options[slug] : undefined
  return isObject(own) ? own : {}
}
