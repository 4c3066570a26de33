import type { Static, TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import { badRequest, type GatewayError } from '../core/errors.ts'
import { isObject } from '../core/json.ts'
import { innerOf, MOST_FIELDS } from './fields.ts'

/**
 * Makes the check of bodies against a schema. It returns the body with its type, or throws a `GatewayError` 400 for the
 * first mismatch. The schema is compiled at the first body, so that startup does not pay for it.
 */
export function bodyCheck<Schema extends TSchema>(schema: Schema) {
  let compiled: TypeCheck<Schema> | undefined
  return <Body>(body: Body): Body & Static<Schema> => {
    compiled ??= TypeCompiler.Compile(schema)
    if (!compiled.Check(body)) throw mismatch(compiled, body)
    return body
  }
}

/**
 * The first error in a body, as a 400: the field's path, what is allowed, what the body has.
 * Of the forms that a field may have, the one that the caller evidently meant is explained. Values longer than a
 * few words are never repeated. `at`: the path of the value if it is a part of the body (`input[3]`).
 */
export function mismatch(check: TypeCheck<TSchema>, body: unknown, at = ''): GatewayError {
  const { value, sizes } = thinned(body, check.Schema())
  const first = check.Errors(value).First()
  if (!first) return badRequest('The body does not have the form of this operation')
  const error = innermost(first)
  const path = pathOf(error.path, at)
  return badRequest(sentence(error, sizes), path === '' ? undefined : path)
}

/** How many fields an object had before it was thinned. */
type Sizes = ReadonlyMap<unknown, number>

/**
 * The body with a part of the unknown fields of each object that has too many of them. The search for the error lists the
 * fields again for each variant of a union: 100 ms for 98,000.
 */
function thinned(body: unknown, schema: TSchema): { value: unknown; sizes: Sizes } {
  const sizes = new Map<unknown, number>()
  if (!isCrowded(body)) return { value: body, sizes }
  const known = namesIn(schema, new Set(), new Set())
  const thin = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(thin)
    if (!isObject(value)) return value
    const names = Object.keys(value)
    const taken =
      names.length > MOST_FIELDS ? names.filter((name, i) => i <= MOST_FIELDS || known.has(name)) : names
    const copy = Object.fromEntries(taken.map((name) => [name, thin(value[name])]))
    if (taken !== names) sizes.set(copy, names.length)
    return copy
  }
  return { value: thin(body), sizes }
}

/** True if an object in it has more fields than one may have. */
function isCrowded(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isCrowded)
  if (!isObject(value)) return false
  const inner = Object.values(value)
  return inner.length > MOST_FIELDS || inner.some(isCrowded)
}

/** The names of all fields that a schema knows. */
function namesIn(schema: TSchema, names: Set<string>, seen: Set<TSchema>): Set<string> {
  if (seen.has(schema)) return names
  seen.add(schema)
  for (const name of Object.keys(schema.properties ?? {})) names.add(name)
  for (const inner of innerOf(schema)) namesIn(inner, names, seen)
  return names
}

/** JSON pointer → `messages[2].content[0].type`. */
function pathOf(pointer: string, at = ''): string {
  let path = at
  for (const raw of pointer.split('/').slice(1)) {
    const step = raw.replaceAll('~1', '/').replaceAll('~0', '~').slice(0, 64)
    path += /^\d+$/.test(step) ? `[${step}]` : path === '' ? step : `.${step}`
  }
  return path
}

/** Descends unions to the variant that the value is closest to. */
function innermost(error: ValueError): ValueError {
  if (error.type !== ValueErrorType.Union) return error
  const variants = variantsOf(error.schema)
  const names = variants.map((variant) => discriminatorOf(variant))
  const key = names.find((name) => name !== undefined)?.key
  const meant = variants.findIndex((variant, i) =>
    key !== undefined && isObject(error.value)
      ? names[i]?.values.includes(error.value[key])
      : hasKind(variant, error.value),
  )
  const variant = variants[meant]
  if (variant === undefined || isEnum(variants)) {
    return key !== undefined && isObject(error.value) ? wrongDiscriminator(error, key) : error
  }
  const inner = error.errors[allVariantsOf(error.schema).indexOf(variant)]?.First()
  return inner ? innermost(inner) : error
}

function wrongDiscriminator(error: ValueError, key: string): ValueError {
  const schemas = variantsOf(error.schema).flatMap((variant) => propertyOf(variant, key) ?? [])
  const value = isObject(error.value) ? error.value[key] : undefined
  const type = value === undefined ? ValueErrorType.ObjectRequiredProperty : ValueErrorType.Union
  const schema: TSchema = { ...error.schema, anyOf: schemas.flatMap(flatten) }
  return { ...error, type, schema, value, path: `${error.path}/${key}`, errors: [] }
}

function sentence({ type, schema, value }: ValueError, sizes: Sizes): string {
  const allowed = expectation(schema)
  const size = sizes.get(value) ?? sizeOf(value)
  switch (type) {
    case ValueErrorType.ObjectRequiredProperty:
      return `is required and must be ${allowed}`
    case ValueErrorType.ArrayMaxItems:
    case ValueErrorType.ArrayMinItems:
      return `must have ${range(schema.minItems, schema.maxItems, 'entry', 'entries')}, not ${size}`
    case ValueErrorType.ObjectMaxProperties:
      return schema.properties === undefined
        ? `must have ${range(0, schema.maxProperties, 'pair', 'pairs')}, not ${size}`
        : `must have ${range(0, schema.maxProperties, 'field', 'fields')}, not ${size}`
    case ValueErrorType.StringMinLength:
      return 'must not be empty'
    case ValueErrorType.StringMaxLength:
      return `must be ${allowed}, not of ${size}`
    default:
      return `must be ${allowed}, not ${typeof value === 'string' && !takesAnyString(schema) ? quoted(value) : kindText(value)}`
  }
}

const sizeOf = (value: unknown): number => {
  if (typeof value === 'string' || Array.isArray(value)) return value.length
  return isObject(value) ? Object.keys(value).length : 0
}

const takesAnyString = (schema: TSchema): boolean =>
  flatten(schema).some((variant) => variant.type === 'string' && variant.const === undefined)

/** What a schema allows, in words. */
function expectation(schema: TSchema): string {
  const variants = variantsOf(schema)
  if (variants.length > 0) {
    return isEnum(variants)
      ? oneOfText(variants.map((variant) => JSON.stringify(variant.const)))
      : [...new Set(variants.map(expectation))].join(' or ')
  }
  switch (schema.type) {
    case 'string':
      return schema.const === undefined ? stringText(schema) : JSON.stringify(schema.const)
    case 'integer':
      return `a whole number${bounds(schema.minimum, schema.maximum)}`
    case 'number':
      return `a number${bounds(schema.minimum, schema.maximum)}`
    case 'boolean':
      return schema.const === undefined ? 'true or false' : String(schema.const)
    case 'array':
      return 'a list'
    default:
      return 'an object'
  }
}

function stringText(schema: TSchema): string {
  if (schema.maxLength !== undefined) {
    return `a string of ${range(schema.minLength, schema.maxLength, 'character', 'characters')}`
  }
  if (schema.pattern !== undefined) return 'another string'
  return schema.minLength === undefined ? 'a string' : 'a string that is not empty'
}

const bounds = (minimum?: number, maximum?: number): string => {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`
  if (minimum !== undefined) return ` of at least ${minimum}`
  return maximum === undefined ? '' : ` of at most ${maximum}`
}
const range = (minimum = 0, maximum: number | undefined, one: string, many: string): string => {
  if (maximum === undefined) return `at least ${minimum} ${minimum === 1 ? one : many}`
  return minimum === 0 ? `at most ${maximum} ${many}` : `${minimum} to ${maximum} ${many}`
}
const oneOfText = (names: readonly string[]): string =>
  names.length === 1 ? `${names[0]}` : `one of ${names.join(', ')}`

const allVariantsOf = (schema: TSchema): TSchema[] => (Array.isArray(schema.anyOf) ? schema.anyOf : [])
const variantsOf = (schema: TSchema): TSchema[] =>
  allVariantsOf(schema).filter((each) => each.type !== 'null')
const flatten = (schema: TSchema): TSchema[] => (schema.anyOf ? variantsOf(schema) : [schema])
const isEnum = (variants: readonly TSchema[]): boolean =>
  variants.length > 0 && variants.every((variant) => variant.const !== undefined)

const propertyOf = (schema: TSchema, key: string): TSchema | undefined => schema.properties?.[key]

/** The property that distinguishes the variants of a union, and its values in this variant. */
function discriminatorOf(variant: TSchema): { key: string; values: unknown[] } | undefined {
  for (const key of ['role', 'type', 'id']) {
    const property = propertyOf(variant, key)
    const literals = property ? flatten(property) : []
    if (isEnum(literals)) return { key, values: literals.map((literal) => literal.const) }
  }
  return undefined
}

function hasKind(variant: TSchema, value: unknown): boolean {
  if (variant.anyOf) return variantsOf(variant).some((inner) => hasKind(inner, value))
  switch (variant.type) {
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    case 'integer':
      return typeof value === 'number'
    default:
      return typeof value === variant.type
  }
}

/** A short value in quotes; for a long one only its length. */
export const quoted = (value: string): string =>
  value.length <= 40 ? JSON.stringify(value) : `a string of ${value.length} characters`

/** Describes a value without repeating more than a number or a word. */
export function kindText(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  switch (typeof value) {
    case 'number':
    case 'boolean':
      return String(value)
    case 'string':
      return 'a string'
    case 'undefined':
      return 'absent'
    default:
      return 'an object'
  }
}
