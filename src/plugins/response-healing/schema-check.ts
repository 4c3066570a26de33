import type { JsonObject } from '../../core/events.ts'
import { asList, isObject, isString, textsIn } from '../../core/json.ts'
import {
  type Check,
  count,
  createCheck,
  hasDuplicate,
  matches,
  ofNumber,
  ofString,
  ofType,
  ofValues,
  TooComplex,
  wrong,
} from './schema-values.ts'

/** Whether a value is what its schema asks for. */
export interface Checked {
  /** The first thing that is wrong, with its place; null: nothing. */
  readonly problem: string | null
  /** Keywords that were not checked; `schema` if the schema needs too much work. */
  readonly unchecked: readonly string[]
}

const DEEPEST = 100

/** Checks a value against a JSON Schema of the drafts 4 to 2020-12. */
export function checkSchema(value: unknown, schema: unknown): Checked {
  const check = createCheck(schema)
  try {
    return { problem: problemOf(value, schema, '', check), unchecked: [...check.unchecked] }
  } catch (error) {
    if (!(error instanceof TooComplex)) throw error
    return { problem: null, unchecked: ['schema'] }
  }
}

const NOT_CHECKED = ['unevaluatedProperties', 'unevaluatedItems', '$dynamicRef', '$recursiveRef']

function problemOf(value: unknown, schema: unknown, path: string, check: Check): string | null {
  count(check)
  if (schema === false) return wrong(path, 'is not allowed')
  if (!isObject(schema)) return null
  if (++check.depth > DEEPEST) throw new TooComplex()
  for (const name of NOT_CHECKED) if (schema[name] !== undefined) check.unchecked.add(name)
  const problem =
    ofReference(value, schema, path, check) ??
    ofType(value, schema, path) ??
    ofValues(value, schema, path, check) ??
    (typeof value === 'number' ? ofNumber(value, schema, path) : null) ??
    (isString(value) ? ofString(value, schema, path, check) : null) ??
    (Array.isArray(value) ? ofArray(value, schema, path, check) : null) ??
    (isObject(value) ? ofObject(value, schema, path, check) : null) ??
    ofBranches(value, schema, path, check)
  check.depth -= 1
  return problem
}

function ofReference(value: unknown, { $ref }: JsonObject, path: string, check: Check): string | null {
  if (!isString($ref)) return null
  const target = $ref.startsWith('#') ? resolved($ref.slice(1), check) : undefined
  if (target !== undefined) return problemOf(value, target, path, check)
  check.unchecked.add('$ref')
  return null
}

/** What a JSON pointer names in the schema. */
function resolved(pointer: string, check: Check): unknown {
  let at = check.root
  for (const raw of pointer.split('/').slice(1)) {
    count(check)
    const name = decoded(raw).replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(at)) at = at[Number(name)]
    else if (isObject(at) && Object.hasOwn(at, name)) at = at[name]
    else return undefined
  }
  return pointer === '' || pointer.startsWith('/') ? at : undefined
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function ofArray(value: readonly unknown[], schema: JsonObject, path: string, check: Check): string | null {
  const { minItems, maxItems, uniqueItems, contains, items, additionalItems } = schema
  if (typeof minItems === 'number' && value.length < minItems)
    return wrong(path, `must have at least ${minItems} items`)
  if (typeof maxItems === 'number' && value.length > maxItems)
    return wrong(path, `must have at most ${maxItems} items`)
  const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : asList(items)
  const rest = Array.isArray(items) ? additionalItems : items
  for (const [i, item] of value.entries()) {
    const problem = problemOf(item, i < first.length ? first[i] : rest, `${path}[${i}]`, check)
    if (problem !== null) return problem
  }
  if (contains !== undefined) {
    const found = value.filter((item) => problemOf(item, contains, path, check) === null).length
    const { minContains, maxContains } = schema
    if (found < (typeof minContains === 'number' ? minContains : 1))
      return wrong(path, 'has too few items of the kind that `contains` asks for')
    if (typeof maxContains === 'number' && found > maxContains)
      return wrong(path, 'has too many items of the kind that `contains` asks for')
  }
  return uniqueItems === true && hasDuplicate(value, check)
    ? wrong(path, 'must not have an item twice')
    : null
}

function ofObject(value: JsonObject, schema: JsonObject, path: string, check: Check): string | null {
  const { minProperties, maxProperties, required, propertyNames } = schema
  const names = Object.keys(value)
  if (typeof minProperties === 'number' && names.length < minProperties)
    return wrong(path, `must have at least ${minProperties} properties`)
  if (typeof maxProperties === 'number' && names.length > maxProperties)
    return wrong(path, `must have at most ${maxProperties} properties`)
  for (const name of textsIn(required)) {
    count(check)
    if (!Object.hasOwn(value, name)) return wrong(path, `must have ${shownName(name)}`)
  }
  for (const name of names) {
    const at = path === '' ? name : `${path}.${name}`
    const problem =
      (propertyNames === undefined ? null : problemOf(name, propertyNames, at, check)) ??
      ofProperty(name, value[name], schema, at, check)
    if (problem !== null) return problem
  }
  return ofDependencies(value, schema, path, check)
}

const shownName = (name: string): string => JSON.stringify(name.slice(0, 100))

function ofProperty(
  name: string,
  value: unknown,
  { properties, patternProperties, additionalProperties }: JsonObject,
  at: string,
  check: Check,
): string | null {
  count(check)
  let isNamed = false
  if (isObject(properties) && Object.hasOwn(properties, name)) {
    isNamed = true
    const problem = problemOf(value, properties[name], at, check)
    if (problem !== null) return problem
  }
  for (const [pattern, inner] of Object.entries(isObject(patternProperties) ? patternProperties : {})) {
    const isMatch = matches(name, pattern, check)
    // Of a pattern that was not matched it is unknown.
    if (isMatch !== false) isNamed = true
    const problem = isMatch ? problemOf(value, inner, at, check) : null
    if (problem !== null) return problem
  }
  return isNamed ? null : problemOf(value, additionalProperties, at, check)
}

function ofDependencies(value: JsonObject, schema: JsonObject, path: string, check: Check): string | null {
  for (const keyword of ['dependentRequired', 'dependentSchemas', 'dependencies']) {
    const dependencies = schema[keyword]
    if (!isObject(dependencies)) continue
    for (const [name, needed] of Object.entries(dependencies)) {
      count(check)
      if (!Object.hasOwn(value, name)) continue
      const missing = textsIn(needed).find((other) => !Object.hasOwn(value, other))
      if (missing !== undefined)
        return wrong(path, `must have ${shownName(missing)} beside ${shownName(name)}`)
      const problem = Array.isArray(needed) ? null : problemOf(value, needed, path, check)
      if (problem !== null) return problem
    }
  }
  return null
}

function ofBranches(value: unknown, schema: JsonObject, path: string, check: Check): string | null {
  const { allOf, anyOf, oneOf, not } = schema
  for (const branch of asList(allOf)) {
    const problem = problemOf(value, branch, path, check)
    if (problem !== null) return problem
  }
  if (Array.isArray(anyOf)) {
    const problem = ofAny(value, anyOf, path, check)
    if (problem !== null) return problem
  }
  if (Array.isArray(oneOf)) {
    const matching = oneOf.filter((branch) => problemAside(value, branch, path, check) === null).length
    if (matching === 0) return ofAny(value, oneOf, path, check)
    if (matching > 1) return wrong(path, 'matches more than one of the schemas of which it may match one')
  }
  if (not !== undefined && problemAside(value, not, path, check) === null)
    return wrong(path, 'matches a schema that it must not match')
  if (schema.if === undefined) return null
  const isMet = problemAside(value, schema.if, path, check) === null
  return problemOf(value, isMet ? schema.then : schema.else, path, check)
}

/** The problem of the first branch of the value's own type is the most useful one. */
function ofAny(value: unknown, branches: readonly unknown[], path: string, check: Check): string | null {
  let first: string | null = null
  for (const branch of branches) {
    const problem = problemAside(value, branch, path, check)
    if (problem === null) return null
    const isOfType = isObject(branch) && ofType(value, branch, path) === null
    if (first === null || isOfType) first = problem
  }
  return first ?? wrong(path, 'matches none of the schemas of which it must match one')
}

/** A failing branch must not change the depth of the check. */
function problemAside(value: unknown, schema: unknown, path: string, check: Check): string | null {
  const { depth } = check
  const problem = problemOf(value, schema, path, check)
  check.depth = depth
  return problem
}
