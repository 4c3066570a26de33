import type { JsonObject } from '../core/events.ts'
import { isJsonObject } from './json.ts'

/** Keywords of this server for checks and messages, which are omitted from the document. */
const OWN_KEYWORDS = new Set(['expects', 'documented', 'error'])
/** Keywords whose value is a map of names to schemas. */
const SCHEMA_MAPS = new Set(['properties', 'patternProperties', '$defs'])
/** Keywords whose value is data, not a schema. */
const DATA = new Set(['default', 'examples', 'example', 'enum', 'const', 'required'])

/**
 * A TypeBox schema as JSON Schema 2020-12, the dialect of OpenAPI 3.1: unions of constants become `enum`, a union with
 * null becomes a list of types if possible, `documented` replaces the schema that has it.
 */
export function schemaOf31(schema: unknown): JsonObject {
  if (!isJsonObject(schema)) return {}
  const { documented, description } = schema
  if (isJsonObject(documented))
    return { ...documented, ...(description === undefined ? {} : { description }) }
  const converted: JsonObject = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (!OWN_KEYWORDS.has(keyword)) converted[keyword] = convertedValue(keyword, value)
  }
  return simplified(withoutCatchAll(converted))
}

function convertedValue(keyword: string, value: unknown): unknown {
  if (DATA.has(keyword)) return value
  if (SCHEMA_MAPS.has(keyword) && isJsonObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, schemaOf31(inner)]))
  }
  if (Array.isArray(value)) return value.map((item) => (isJsonObject(item) ? schemaOf31(item) : item))
  return isJsonObject(value) ? schemaOf31(value) : value
}

/** TypeBox writes a record with any names as one pattern. */
function withoutCatchAll({ patternProperties, ...schema }: JsonObject): JsonObject {
  if (!isJsonObject(patternProperties)) return schema
  const catchAll = patternProperties['^(.*)$']
  return catchAll === undefined
    ? { ...schema, patternProperties }
    : { ...schema, additionalProperties: catchAll }
}

function simplified({ anyOf, ...schema }: JsonObject): JsonObject {
  if (!Array.isArray(anyOf)) return schema
  const variants = anyOf.filter(isJsonObject).flatMap(flattened)
  const constants = variants.filter(
    (variant) => Object.hasOwn(variant, 'const') || variant['type'] === 'null',
  )
  if (constants.length === variants.length) {
    return { ...typesOf(variants), enum: variants.map((variant) => variant['const'] ?? null), ...schema }
  }
  const [only, ...others] = variants.filter((variant) => variant['type'] !== 'null')
  const isNullable = others.length + 1 < variants.length
  if (only && others.length === 0 && isNullable) return { ...nullable(only), ...schema }
  return { anyOf: variants, ...schema }
}

/** A union inside a union, without a description of its own, is one union. */
const flattened = (variant: JsonObject): JsonObject[] =>
  Array.isArray(variant['anyOf']) && Object.keys(variant).length === 1
    ? variant['anyOf'].filter(isJsonObject)
    : Array.isArray(variant['enum']) && Object.keys(variant).every((key) => key === 'enum' || key === 'type')
      ? variant['enum'].map((value) =>
          value === null ? { type: 'null' } : { const: value, type: typeof value },
        )
      : [variant]

function nullable(variant: JsonObject): JsonObject {
  const { type } = variant
  if (Array.isArray(variant['enum'])) return { anyOf: [variant, { type: 'null' }] }
  return typeof type === 'string'
    ? { ...variant, type: [type, 'null'] }
    : { anyOf: [variant, { type: 'null' }] }
}

function typesOf(variants: readonly JsonObject[]): JsonObject {
  const types = [...new Set(variants.map((variant) => variant['type']).filter((type) => type !== undefined))]
  return types.length === 0 ? {} : { type: types.length === 1 ? types[0] : types }
}
