import type { JsonObject } from '../core/events.ts'
import { isObject, isString } from '../core/json.ts'

/** Keywords that structured output refuses (2026): they are said in the description instead. */
const REFUSED = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
])
/** Keywords whose values are schemas by name, and those that hold one schema or a list of them. */
const NAMED = new Set(['properties', '$defs', 'definitions'])
const NESTED = new Set(['items', 'anyOf', 'allOf', 'oneOf', 'additionalProperties', 'prefixItems'])

/**
 * A JSON schema as Claude's structured output takes it: every object closed, and no keyword that it refuses. Undefined where an
 * object is open on purpose: closing it would forbid what the caller allows.
 */
export function strictSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return allOrNothing(schema.map(strictSchema))
  if (!isObject(schema)) return schema
  const { additionalProperties: open } = schema
  if (open === true || isObject(open)) return undefined
  const written: JsonObject = {}
  const said: JsonObject = {}
  for (const [key, value] of Object.entries(schema)) {
    if (REFUSED.has(key) || (key === 'minItems' && Number(value) > 1)) said[key] = value
    else if (NAMED.has(key) && isObject(value)) written[key] = strictEach(value)
    else written[key] = NESTED.has(key) ? strictSchema(value) : value
    if (key in written && written[key] === undefined) return undefined
  }
  if (schema.type === 'object') written.additionalProperties = false
  if (Object.keys(said).length > 0) {
    const { description } = schema
    written.description = `${isString(description) ? `${description} ` : ''}${JSON.stringify(said)}`
  }
  return written
}

function strictEach(schemas: JsonObject): JsonObject | undefined {
  const entries = Object.entries(schemas).map(([name, schema]) => [name, strictSchema(schema)] as const)
  return entries.some(([, schema]) => schema === undefined) ? undefined : Object.fromEntries(entries)
}

const allOrNothing = (schemas: unknown[]): unknown[] | undefined =>
  schemas.includes(undefined) ? undefined : schemas
