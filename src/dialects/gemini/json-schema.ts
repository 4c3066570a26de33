import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../values.ts'
import type { LeaveOut } from './left-out.ts'
import { keepDefined, standAlone } from './schema-rules.ts'

/** In which of Google's two fields a schema goes. */
export interface WrittenSchema {
  /** `openapi`: the subset that all models take; `json-schema`: JSON Schema itself, where the subset says too little. */
  form: 'openapi' | 'json-schema'
  schema: JsonObject
}

/**
 * JSON Schema → Google's Schema (a subset of OpenAPI 3.0; unknown keywords are refused with 400). Said in other words:
 * `$ref` (in its place), `oneOf` (`anyOf`), `const` (`enum`), `allOf` (merged), null (`nullable`), lists of types,
 * exclusive bounds of integers. Where only what the newer JSON Schema fields can say is lost, they are used; any other
 * keyword that constrains is left out and named `<path>.<keyword>`.
 */
export function writeSchema(schema: JsonObject, path: string, leaveOut: LeaveOut): WrittenSchema {
  const lost = new Set<string>()
  const cleaned = clean(schema, { root: schema, lost, following: [] })
  if (lost.size > 0 && [...lost].every((keyword) => IN_JSON_SCHEMA.has(keyword))) {
    return { form: 'json-schema', schema }
  }
  for (const keyword of lost) leaveOut(`${path}.${keyword}`)
  return { form: 'openapi', schema: cleaned }
}

/** What `parametersJsonSchema` and `responseJsonSchema` know and Schema does not (Gemini API reference, 2025). */
const IN_JSON_SCHEMA: ReadonlySet<string> = new Set([
  '$ref',
  'additionalProperties',
  'prefixItems',
  'enum',
  'anyOf',
])

/** Taken over as they are. */
const KEPT: ReadonlySet<string> = new Set([
  'title',
  'description',
  'nullable',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
  'propertyOrdering',
  'default',
  'example',
])

/** Read together with others, or without a meaning for what the model writes. */
const SILENT: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$comment',
  '$defs',
  'definitions',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'strict',
])

const FORMATS: ReadonlySet<string> = new Set(['enum', 'date-time', 'float', 'double', 'int32', 'int64'])

interface Cleaning {
  readonly root: JsonObject
  /** Keywords whose meaning is lost. */
  readonly lost: Set<string>
  /** References that are being followed: one that comes again is recursive. */
  readonly following: readonly string[]
}

function clean(raw: unknown, cleaning: Cleaning): JsonObject {
  // `true` and `{}` allow anything; `false` forbids everything.
  if (!isObject(raw)) {
    if (raw === false) cleaning.lost.add('false')
    return {}
  }
  const { $ref, allOf, ...own } = raw
  if (isString($ref)) return cleanReference($ref, own, cleaning)
  const merged = Array.isArray(allOf) ? mergeAll(own, allOf, cleaning) : own
  const out: JsonObject = {}
  for (const [keyword, value] of Object.entries(merged)) {
    if (value !== undefined) cleanKeyword(keyword, value, merged, out, cleaning)
  }
  if (out['type'] === undefined && out['properties'] !== undefined) out['type'] = 'object'
  if (out['type'] === 'array') out['items'] ??= {}
  keepDefined(out, cleaning.lost)
  return out['anyOf'] === undefined ? out : standAlone(out, cleaning.lost)
}

function cleanKeyword(
  keyword: string,
  value: unknown,
  schema: JsonObject,
  out: JsonObject,
  cleaning: Cleaning,
): void {
  const { lost } = cleaning
  if (KEPT.has(keyword)) {
    out[keyword] = value
    return
  }
  switch (keyword) {
    case 'type':
      cleanType(value, out)
      return
    case 'properties':
      cleanProperties(value, out, cleaning)
      return
    case 'required':
      if (Array.isArray(value) && value.length > 0) out['required'] = value
      return
    case 'items':
      out['items'] = clean(value, cleaning)
      return
    case 'anyOf':
    case 'oneOf':
      if (Array.isArray(value)) cleanUnion(value, out, cleaning)
      return
    case 'enum':
    case 'const':
      cleanEnum(keyword === 'enum' ? value : [value], out, lost)
      return
    case 'format':
      if (isString(value) && FORMATS.has(value)) out['format'] = value
      return
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      cleanExclusive(keyword, value, schema, out, lost)
      return
    case 'additionalProperties':
      if (isObject(value)) lost.add(keyword)
      return
    default:
      if (!SILENT.has(keyword) && !keyword.startsWith('x-')) lost.add(keyword)
  }
}

function cleanType(value: unknown, out: JsonObject): void {
  if (!Array.isArray(value)) {
    out['type'] = value
    return
  }
  const types = value.filter((type) => type !== 'null')
  if (types.length < value.length) out['nullable'] = true
  if (types.length === 1) out['type'] = types[0]
  else if (types.length > 1) out['anyOf'] = types.map((type) => ({ type }))
}

function cleanProperties(value: unknown, out: JsonObject, cleaning: Cleaning): void {
  if (!isObject(value) || Object.keys(value).length === 0) return
  out['properties'] = Object.fromEntries(
    Object.entries(value).map(([name, property]) => [name, clean(property, cleaning)]),
  )
}

function cleanUnion(variants: readonly unknown[], out: JsonObject, cleaning: Cleaning): void {
  const others = variants.filter((variant) => !(isObject(variant) && variant['type'] === 'null'))
  if (others.length < variants.length) out['nullable'] = true
  const cleaned = others.map((variant) => clean(variant, cleaning))
  const [only] = cleaned
  if (cleaned.length === 1 && only) Object.assign(out, { ...only, ...out })
  else if (out['anyOf'] === undefined) out['anyOf'] = cleaned
  else cleaning.lost.add('oneOf')
}

/** Google's `enum` is of strings alone, and none may be empty (400 `enum[0]: cannot be empty`). */
function cleanEnum(values: unknown, out: JsonObject, lost: Set<string>): void {
  if (!Array.isArray(values)) return
  const others = values.filter((value) => value !== null)
  if (others.length < values.length) out['nullable'] = true
  if (!others.every(isString)) {
    lost.add('enum')
    return
  }
  const named = others.filter((value) => value !== '')
  if (named.length < others.length) lost.add('enum[""]')
  if (named.length > 0) out['enum'] = named
  out['type'] ??= 'string'
}

function cleanExclusive(
  keyword: 'exclusiveMinimum' | 'exclusiveMaximum',
  value: unknown,
  { type }: JsonObject,
  out: JsonObject,
  lost: Set<string>,
): void {
  if (type !== 'integer' || !Number.isSafeInteger(value)) {
    lost.add(keyword)
    return
  }
  const isMinimum = keyword === 'exclusiveMinimum'
  out[isMinimum ? 'minimum' : 'maximum'] = Number(value) + (isMinimum ? 1 : -1)
}

function cleanReference(reference: string, beside: JsonObject, cleaning: Cleaning): JsonObject {
  const target = resolve(reference, cleaning.root)
  if (target === undefined || cleaning.following.includes(reference)) {
    cleaning.lost.add('$ref')
    return { type: 'object' }
  }
  // What stands beside a reference refines it; the target's own definitions are not wanted twice.
  const { $defs: _defs, definitions: _definitions, ...rest } = beside
  return clean({ ...target, ...rest }, { ...cleaning, following: [...cleaning.following, reference] })
}

/** `#/$defs/Name` and other pointers into the same schema. */
function resolve(reference: string, root: JsonObject): JsonObject | undefined {
  if (!reference.startsWith('#')) return undefined
  let value: unknown = root
  for (const step of reference.slice(1).split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  if (!isObject(value)) return undefined
  if (value !== root) return value
  const { $defs: _defs, definitions: _definitions, ...rest } = value
  return rest
}

function mergeAll(own: JsonObject, parts: readonly unknown[], cleaning: Cleaning): JsonObject {
  const merged: JsonObject = { ...own }
  for (const part of parts) {
    if (!isObject(part)) continue
    const target = isString(part['$ref']) ? resolve(part['$ref'], cleaning.root) : part
    if (target === undefined || target['allOf'] !== undefined) {
      cleaning.lost.add('allOf')
      continue
    }
    for (const [keyword, value] of Object.entries(target)) mergeKeyword(keyword, value, merged, cleaning.lost)
  }
  return merged
}

function mergeKeyword(keyword: string, value: unknown, merged: JsonObject, lost: Set<string>): void {
  const before = merged[keyword]
  if (keyword === 'properties' && isObject(value) && isObject(before)) {
    merged[keyword] = { ...before, ...value }
  } else if (keyword === 'required' && Array.isArray(value) && Array.isArray(before)) {
    merged[keyword] = [...new Set([...before, ...value])]
  } else if (before === undefined) {
    merged[keyword] = value
  } else if (JSON.stringify(before) !== JSON.stringify(value) && !SILENT.has(keyword)) {
    lost.add('allOf')
  }
}
