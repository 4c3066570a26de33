import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'

/**
 * Google's Schema → JSON Schema, for providers of other dialects. Types are in capitals there, null is `nullable`, and
 * whole numbers of 64 bits may be strings. Everything else has the same words, or none that a model reads.
 */
export function neutralSchema(schema: unknown): JsonObject {
  if (!isObject(schema)) return {}
  const out: JsonObject = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === null || value === undefined || SILENT.has(keyword)) continue
    out[keyword] = fieldOf(keyword, value)
  }
  return schema.nullable === true ? orNull(out) : out
}

const SILENT: ReadonlySet<string> = new Set(['nullable', 'propertyOrdering', 'example'])
const COUNTS: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
])

function fieldOf(keyword: string, value: unknown): unknown {
  if (keyword === 'type') return isString(value) ? value.toLowerCase() : value
  if (COUNTS.has(keyword)) return isString(value) && /^\d{1,15}$/.test(value) ? Number(value) : value
  if (keyword === 'items' || keyword === 'additionalProperties') {
    return isObject(value) ? neutralSchema(value) : value
  }
  if (keyword === 'anyOf') return Array.isArray(value) ? value.map(neutralSchema) : value
  if (keyword === 'properties' || keyword === 'defs' || keyword === '$defs') {
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, neutralSchema(inner)]))
      : value
  }
  return value
}

function orNull(schema: JsonObject): JsonObject {
  const { type, enum: words } = schema
  const nullable = Array.isArray(words) && !words.includes(null) ? { enum: [...words, null] } : {}
  if (isString(type)) return { ...schema, ...nullable, type: [type, 'null'] }
  return Array.isArray(schema.anyOf) ? { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] } : schema
}
