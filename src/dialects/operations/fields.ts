import type { Attempt } from '../../core/attempt.ts'
import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { fieldsOf, isObject } from '../../core/json.ts'
import type { RoutedRequest } from '../../core/request.ts'
import { withoutTrailing } from '../../core/trailing.ts'
import { GATEWAY_FIELDS } from '../caller-schema.ts'
import { modelName, optional } from '../fields.ts'

export const modelField = (description: string) => optional(modelName(description))

/** Decodes standard or URL-safe base64, with or without white space and padding. Throws a 400 that names the field. */
export function bytesOfBase64(text: string, path: string): Uint8Array<ArrayBuffer> {
  const compact = text.replace(/\s+/g, '')
  if (compact === '') throw badRequest('must not be empty', path)
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(compact) || withoutTrailing(compact, '=').length % 4 === 1) {
    throw badRequest('must be base64', path)
  }
  return new Uint8Array(Buffer.from(compact, 'base64'))
}

/**
 * The caller's own body for a provider of the same form: unknown fields are kept, nulls and the gateway's own fields are
 * removed, and `provider.options.<slug>` is added for the provider that it names.
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

/** The caller's options for one provider. */
export function providerOptions({ provider }: JsonObject, slug: string): JsonObject {
  const options = fieldsOf(provider)['options']
  const own = isObject(options) ? options[slug] : undefined
  return fieldsOf(own)
}
