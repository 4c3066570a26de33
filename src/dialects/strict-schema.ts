import type { JsonObject } from '../core/events.ts'
import { asList, isObject } from '../core/json.ts'

/** OpenAI's `response_format` for a schema of another dialect, which has neither a name nor `strict`. */
export const formatOf = (schema: unknown): JsonObject => ({
  type: 'json_schema',
  json_schema: { name: 'answer', schema, strict: isStrict(schema) },
})

/**
 * True for a schema that OpenAI's `strict` accepts: it rejects optional properties and open objects. Anthropic and
 * Google enforce schemas that have them.
 */
export function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict)
  if (!isObject(schema)) return true
  const { properties, required } = schema
  if (isObject(properties)) {
    const names = new Set<unknown>(asList(required))
    if (schema.additionalProperties !== false) return false
    if (!Object.keys(properties).every((name) => names.has(name))) return false
  }
  return Object.values(schema).every(isStrict)
}
