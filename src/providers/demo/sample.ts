import type { JsonObject } from '../../core/events.ts'
import { asList, fieldsOf, isObject } from '../../core/json.ts'

const MOST_NODES = 500
const MOST_DEPTH = 24
/** Of all constants and names together: one may be named by many references. */
const MOST_CHARACTERS = 100_000
const MOST_POINTER_CHARACTERS = 1_000
const TEXTS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  duration: 'P1D',
  email: 'demo@example.com',
  uri: 'https://example.com/',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uuid: '00000000-0000-4000-8000-000000000000',
}

interface Walk {
  readonly root: unknown
  nodes: number
  characters: number
}

/**
 * A value that fits a JSON schema: types, enums, constants, bounds, required properties, local references,
 * compositions. Patterns and conditions are not honoured. Hostile schemas end in small values: at most 500 nodes
 * and 100,000 characters of constants and names.
 */
export const sampleOf = (schema: unknown): unknown =>
  visit(schema, { root: schema, nodes: 0, characters: 0 }, 0)

function visit(schema: unknown, walk: Walk, depth: number): unknown {
  walk.nodes += 1
  if (!isObject(schema) || walk.nodes > MOST_NODES || depth > MOST_DEPTH)
    return isObject(schema) ? null : 'demo'
  if (schema['const'] !== undefined) return constant(schema['const'], walk)
  if (Array.isArray(schema['enum']) && schema['enum'].length > 0) return constant(schema['enum'][0], walk)
  if (schema['default'] !== undefined) return constant(schema['default'], walk)
  if (typeof schema['$ref'] === 'string') return visit(referenced(walk.root, schema['$ref']), walk, depth + 1)
  if (Array.isArray(schema['allOf']) && schema['allOf'].length > 0)
    return all(schema, schema['allOf'], walk, depth)
  const options = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(options) && options.length > 0) return visit(optionOf(options, depth), walk, depth + 1)
  switch (typeOf(schema)) {
    case 'object':
      return objectOf(schema, walk, depth)
    case 'array':
      return listOf(schema, walk, depth)
    case 'integer':
      return numberOf(schema, 1)
    case 'number':
      return numberOf(schema, 0.5)
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return textOf(schema)
  }
}

function constant(value: unknown, walk: Walk): unknown {
  if (walk.characters > MOST_CHARACTERS) return null
  walk.characters += JSON.stringify(value).length
  return walk.characters > MOST_CHARACTERS ? null : value
}

function typeOf(schema: JsonObject): unknown {
  const type = schema['type']
  if (Array.isArray(type)) return type.find((name) => name !== 'null') ?? 'null'
  if (type !== undefined) return type
  if (isObject(schema['properties'])) return 'object'
  return schema['items'] === undefined ? 'string' : 'array'
}

/** Deep in a recursive schema the way out is the option that ends. */
const optionOf = (options: readonly unknown[], depth: number): unknown =>
  depth < 6
    ? options[0]
    : (options.find((option) => isObject(option) && option['type'] === 'null') ?? options[0])

function all(schema: JsonObject, parts: readonly unknown[], walk: Walk, depth: number): unknown {
  const { allOf: _, ...rest } = schema
  const samples = [...parts.slice(0, MOST_NODES), ...(Object.keys(rest).length > 0 ? [rest] : [])].map(
    (part) => visit(part, walk, depth + 1),
  )
  return samples.every(isObject) ? Object.assign({}, ...samples) : samples[0]
}

function objectOf(schema: JsonObject, walk: Walk, depth: number): JsonObject {
  const properties = fieldsOf(schema['properties'])
  const required = Array.isArray(schema['required'])
    ? schema['required']
    : depth < 3
      ? Object.keys(properties)
      : []
  const entries: [string, unknown][] = []
  for (const name of required.slice(0, MOST_NODES)) {
    if (typeof name !== 'string') continue
    walk.characters += name.length
    if (walk.characters > MOST_CHARACTERS) break
    const declared = Object.hasOwn(properties, name) ? properties[name] : schema['additionalProperties']
    entries.push([name, visit(declared, walk, depth + 1)])
  }
  return Object.fromEntries(entries)
}

function listOf(schema: JsonObject, walk: Walk, depth: number): unknown[] {
  const first = asList(schema['prefixItems'])
  const least = typeof schema['minItems'] === 'number' ? schema['minItems'] : 0
  const most = typeof schema['maxItems'] === 'number' ? schema['maxItems'] : MOST_NODES
  const length = Math.min(most, Math.max(least, first.length, depth < 4 ? 1 : 0))
  const items: unknown[] = []
  while (items.length < length && walk.nodes <= MOST_NODES) {
    items.push(visit(first[items.length] ?? schema['items'], walk, depth + 1))
  }
  return items
}

function numberOf(schema: JsonObject, usual: number): number {
  const bound = (name: string): number | undefined =>
    typeof schema[name] === 'number' ? schema[name] : undefined
  const above = bound('exclusiveMinimum')
  const below = bound('exclusiveMaximum')
  const least = bound('minimum') ?? (above === undefined ? undefined : above + usual)
  const most = bound('maximum') ?? (below === undefined ? undefined : below - usual)
  const step = bound('multipleOf')
  let value = Math.min(Math.max(usual, least ?? usual), most ?? Number.MAX_SAFE_INTEGER)
  if (step !== undefined && step > 0) value = Math.ceil(value / step) * step
  return value
}

function textOf(schema: JsonObject): string {
  const text = typeof schema['format'] === 'string' ? (TEXTS[schema['format']] ?? 'demo') : 'demo'
  const least = typeof schema['minLength'] === 'number' ? Math.min(schema['minLength'], 1000) : 0
  const most = typeof schema['maxLength'] === 'number' ? schema['maxLength'] : text.length
  return text.padEnd(least, '.').slice(0, Math.max(least, Math.min(most, text.length)))
}

/** `#`, `#/$defs/name` and the like; anything else is an unknown schema. */
function referenced(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#') || reference.length > MOST_POINTER_CHARACTERS) return {}
  let target = root
  for (const segment of reference.split('/').slice(1)) {
    const name = segment.replaceAll('~1', '/').replaceAll('~0', '~')
    target = isObject(target) && Object.hasOwn(target, name) ? target[name] : {}
  }
  return target
}
