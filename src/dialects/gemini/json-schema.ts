import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import { words } from '../../core/words.ts'
import type { Drop } from '../dropped.ts'
import {
  count,
  createExpansion,
  type Expansion,
  keepDefined,
  MAX_EXPANDED_CHARACTERS,
  MAX_EXPANDED_KEYWORDS,
  mergeAll,
  type SchemaBudget,
  SILENT,
  standAlone,
  targetOf,
  within,
} from './json-schema-rules.ts'

/** A schema for one of Google's two fields. */
export interface WrittenSchema {
  /** `openapi`: the subset that all models take; `json-schema`: JSON Schema itself, if the subset is not enough. */
  form: 'openapi' | 'json-schema'
  schema: JsonObject
}

/**
 * JSON Schema → Google's Schema (a subset of OpenAPI 3.0 that answers unknown keywords with 400). Translated: `$ref`
 * (expanded), `oneOf` (`anyOf`), `const` (`enum`), `allOf` (merged), null (`nullable`), lists of types, exclusive bounds
 * of integers. If all remaining keywords fit the newer JSON Schema fields, those are used. Otherwise each remaining
 * constraint is dropped as `<path>.<keyword>`.
 *
 * References whose expansion exceeds the budget (definitions that double each other) stay references, in the newer
 * fields. `budget` is the budget of all schemas of a request. Throws a `GatewayError` 400 at `path` if the newer fields
 * cannot hold the rest of the schema.
 */
export function writeSchema(
  schema: JsonObject,
  path: string,
  drop: Drop,
  budget: SchemaBudget,
): WrittenSchema {
  const lost = new Set<string>()
  const expansion = createExpansion(schema, budget)
  const cleaned = clean(schema, { lost, expansion, following: [] })
  if (expansion.isOver) return keepReferences(schema, path)
  if (lost.size > 0 && [...lost].every((keyword) => IN_JSON_SCHEMA.has(keyword))) {
    return { form: 'json-schema', schema }
  }
  for (const keyword of lost) drop(`${path}.${keyword}`)
  return { form: 'openapi', schema: cleaned }
}

/** Keywords of `parametersJsonSchema` and `responseJsonSchema` alone (Gemini API reference, 2025). */
const IN_JSON_SCHEMA: ReadonlySet<string> = new Set(words('$ref additionalProperties prefixItems enum anyOf'))

/** Copied unchanged. */
const KEPT: ReadonlySet<string> = new Set(
  words(`
  title description nullable minItems maxItems minProperties maxProperties minLength maxLength
  pattern minimum maximum propertyOrdering default example
`),
)

const FORMATS: ReadonlySet<string> = new Set(['enum', 'date-time', 'float', 'double', 'int32', 'int64'])

interface Cleaning {
  /** Keywords whose meaning is lost. */
  readonly lost: Set<string>
  /** Absent: references are kept, and definitions are cleaned like the rest. */
  readonly expansion?: Expansion
  /** References that are being expanded: a repeated one is recursive. */
  readonly following: readonly string[]
}

/** The schema itself, for the fields that know `$ref`. */
function keepReferences(schema: JsonObject, path: string): WrittenSchema {
  const lost = new Set<string>()
  clean(schema, { lost, following: [] })
  const unknown = [...lost].filter((keyword) => !IN_JSON_SCHEMA.has(keyword))
  if (unknown.length === 0) return { form: 'json-schema', schema }
  const names = unknown.slice(0, 5).map((keyword) => keyword.slice(0, 64))
  throw badRequest(
    `must not have more than ${MAX_EXPANDED_KEYWORDS} keywords or ${MAX_EXPANDED_CHARACTERS} characters, ` +
      `with all other schemas of the request, once $refs are expanded: the provider takes $ref only in schemas without ${names.join(', ')}`,
    path,
  )
}

function clean(raw: unknown, cleaning: Cleaning): JsonObject {
  if (!mayExpand(1, cleaning)) return {}
  // `true` and `{}` allow anything; `false` forbids everything.
  if (!isObject(raw)) {
    if (raw === false) cleaning.lost.add('false')
    return {}
  }
  const { $ref, allOf, ...own } = raw
  if (isString($ref)) return cleanReference($ref, own, cleaning)
  const merged = Array.isArray(allOf) ? mergeAll(own, allOf, cleaning.lost, cleaning.expansion) : own
  const keywords = Object.entries(merged)
  if (!mayExpand(keywords.length, cleaning)) return {}
  const out: JsonObject = {}
  for (const [keyword, value] of keywords) {
    if (value !== undefined) cleanKeyword(keyword, value, merged, out, cleaning)
  }
  if (out['type'] === undefined && out['properties'] !== undefined) out['type'] = 'object'
  if (out['type'] === 'array') out['items'] ??= {}
  keepDefined(out, cleaning.lost)
  return out['anyOf'] === undefined ? out : standAlone(out, cleaning.lost)
}

/** Charges expanded keywords to the budget; the caller's own text is bounded by the size of the body. */
const mayExpand = (keywords: number, { expansion, following }: Cleaning, value?: unknown): boolean =>
  expansion === undefined || (following.length === 0 ? !expansion.isOver : count(expansion, keywords, value))

function cleanKeyword(
  keyword: string,
  value: unknown,
  schema: JsonObject,
  out: JsonObject,
  cleaning: Cleaning,
): void {
  const { lost } = cleaning
  if (KEPT.has(keyword)) {
    if (mayExpand(0, cleaning, value)) out[keyword] = value
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
      if (Array.isArray(value) && value.length > 0 && mayExpand(0, cleaning, value)) out['required'] = value
      return
    case '$defs':
    case 'definitions':
      if (cleaning.expansion === undefined) cleanProperties(value, {}, cleaning)
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
      if (mayExpand(0, cleaning, value)) cleanEnum(keyword === 'enum' ? value : [value], out, lost)
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

/** Google's `enum` accepts only strings that are not empty (400 `enum[0]: cannot be empty`). */
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
  const { expansion, following, lost } = cleaning
  const target = expansion === undefined ? undefined : targetOf(expansion, reference)
  if (target === undefined || following.includes(reference)) {
    lost.add('$ref')
    return { type: 'object' }
  }
  if (expansion !== undefined && !within(expansion, following.length)) return {}
  // Keywords beside a reference refine it. The definitions are already known.
  const { $defs: _defs, definitions: _definitions, ...rest } = beside
  return clean({ ...target, ...rest }, { ...cleaning, following: [...following, reference] })
}
