import type { TSchema } from '@sinclair/typebox'

/** Values that a TypeBox schema allows. */

/** The smallest valid value; names differ by `i`. */
export function sampleOf(schema: TSchema, i: number, name: string): unknown {
  if (schema.const !== undefined) return schema.const
  const [first] = variantsOf(schema)
  if (first !== undefined) return sampleOf(first, i, name)
  switch (schema.type) {
    case 'string':
      return textFor(name, schema, i)
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      // Most plugins are accepted only if they are disabled.
      return name !== 'enabled'
    case 'array':
      return [sampleOf(schema.items, i, name)]
    default: {
      const required: string[] = [...(schema.required ?? [])]
      if (schema.properties?.enabled) required.push('enabled')
      return Object.fromEntries(required.map((key) => [key, sampleOf(schema.properties[key], i, key)]))
    }
  }
}

/** The same with its optional fields. */
export function fullSampleOf(schema: TSchema, i: number, name: string): unknown {
  const properties = Object.entries<TSchema>(schema.properties ?? {})
  if (properties.length === 0) return sampleOf(schema, i, name)
  return Object.fromEntries(properties.map(([key, property]) => [key, sampleOf(property, i, key)]))
}

function textFor(name: string, { pattern, maxLength }: TSchema, i: number): string {
  if (pattern !== undefined) return new RegExp(pattern).test('openrouter:x') ? 'openrouter:x' : 'x'
  if (name === 'arguments') return '{"a":1}'
  if (name.includes('url')) return 'https://images.example/i.png'
  // The beginning of a PNG.
  if (name === 'data') return 'iVBORw0KGgo='
  // Calls and their results have the same id.
  if (/id$/.test(name)) return `id_${i}`
  return /name|model|type/.test(name) && (maxLength ?? 128) >= 128 ? `${name}_${i}` : 'text'
}

/** The forms of a union, without null. */
export const variantsOf = (schema: TSchema): TSchema[] =>
  Array.isArray(schema.anyOf) ? schema.anyOf.filter((each: TSchema) => each.type !== 'null') : []

/** ` function_call`; '' for a form that needs no name beside its place. */
export function nameOf({ type, const: value, properties }: TSchema): string {
  const kind = value ?? firstWordOf(properties?.role) ?? firstWordOf(properties?.type) ?? type
  return kind === 'array' ? '' : ` ${kind}`
}

const firstWordOf = (schema: TSchema | undefined): unknown =>
  schema?.const ?? (schema ? variantsOf(schema)[0]?.const : undefined)

export const range = <T>(n: number, entry: (i: number) => T): T[] =>
  Array.from({ length: n }, (_, i) => entry(i))
