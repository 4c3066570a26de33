/** Turns failed schema checks into messages: the field and what is allowed. Messages never repeat a value. */
import type { TSchema } from '@sinclair/typebox'
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value'

/** The most problems in one message. */
const MAX_PROBLEMS = 3
const MAX_NAME_LENGTH = 64

/**
 * The problems of `value` in one message: `name: must be a string, not empty; limt: is not known here …`.
 * A schema may carry `expects`, a text that describes its complete rule (`an integer from 1 to 100`).
 */
export function problemsOf(schema: TSchema, value: unknown, where = ''): string {
  const problems = new Map<string, string>()
  for (const error of closestErrors(schema, value)) {
    const place = where + placeOf(error.path)
    if (!problems.has(place)) problems.set(place, problemOf(error))
    if (problems.size >= MAX_PROBLEMS) break
  }
  if (problems.size === 0) return 'The request does not have the form that is expected here'
  return [...problems]
    .map(([place, problem]) => (place === '' ? `The body ${problem}` : `${place}: ${problem}`))
    .join('; ')
}

/** For a value that may be null or a list (or an object), the errors inside the list are the useful ones. */
function* closestErrors(schema: TSchema, value: unknown, path = ''): Generator<ValueError> {
  for (const error of Value.Errors(schema, value)) {
    const inner = error.type === ValueErrorType.Union ? containerOf(error.schema, error.value) : undefined
    if (inner === undefined) yield { ...error, path: path + error.path }
    else yield* closestErrors(inner, error.value, path + error.path)
  }
}

function containerOf(schema: TSchema, value: unknown): TSchema | undefined {
  const variants: unknown[] = Array.isArray(schema['anyOf']) ? schema['anyOf'] : []
  const others = variants.filter(isSchema).filter((variant) => variant['type'] !== 'null')
  const [only] = others
  if (only === undefined || others.length > 1 || typeof value !== 'object' || value === null) return undefined
  return only['type'] === (Array.isArray(value) ? 'array' : 'object') ? only : undefined
}

const isSchema = (value: unknown): value is TSchema => typeof value === 'object' && value !== null

/** `/messages/0/content` → `messages[0].content`. */
function placeOf(pointer: string): string {
  let place = ''
  for (const token of pointer.split('/').slice(1)) {
    const name = printable(token.replaceAll('~1', '/').replaceAll('~0', '~'))
    if (/^\d+$/.test(name)) place += `[${name}]`
    else place += place === '' ? name : `.${name}`
  }
  return place
}

/** A name from outside, made safe for a sentence: short and without control characters. */
export const printable = (name: string): string =>
  name.replace(/[\p{C}\p{Z}]/gu, ' ').slice(0, MAX_NAME_LENGTH)

function problemOf(error: ValueError): string {
  switch (error.type) {
    case ValueErrorType.ObjectAdditionalProperties:
      return `is not known here; ${known(Object.keys(error.schema['properties'] ?? {}))}`
    case ValueErrorType.ObjectRequiredProperty:
      return 'is required'
    default:
      return `must be ${expected(error.schema)}`
  }
}

const known = (names: readonly string[]): string =>
  names.length === 0 ? 'none is allowed' : `known are ${names.join(', ')}`

/** Describes what a schema allows: `a string, not empty`, `one of "daily", "weekly" or null`. */
function expected(schema: TSchema): string {
  if (typeof schema['expects'] === 'string') return schema['expects']
  if (Object.hasOwn(schema, 'const')) return JSON.stringify(schema['const'])
  if (Array.isArray(schema['anyOf'])) return expectedOfAny(schema['anyOf'])
  switch (schema['type']) {
    case 'string':
      return expectedString(schema)
    case 'integer':
    case 'number':
      return `${schema['type'] === 'integer' ? 'an integer' : 'a number'}${range(schema, 'minimum', 'maximum', '')}`
    case 'array':
      return `an array${range(schema, 'minItems', 'maxItems', ' items')}`
    case 'object':
      return `an object${range(schema, 'minProperties', 'maxProperties', ' fields')}`
    case 'boolean':
      return 'true or false'
    case 'null':
      return 'null'
    default:
      return 'of another form'
  }
}

function expectedOfAny(variants: readonly TSchema[]): string {
  const words = [...new Set(variants.map(expected))]
  const last = words.pop() ?? 'of another form'
  if (words.length === 0) return last
  const isChoice = variants.some((variant) => Object.hasOwn(variant, 'const'))
  return `${isChoice ? 'one of ' : ''}${words.join(', ')} or ${last}`
}

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  'date-time': 'an ISO 8601 date and time, such as "2030-01-31T23:59:59Z"',
  date: 'a date as YYYY-MM-DD',
  uri: 'a URL',
  email: 'an e-mail address',
}

function expectedString(schema: TSchema): string {
  const format = FORMATS[String(schema['format'])]
  if (format !== undefined) return format
  if (schema['minLength'] === 1 && schema['maxLength'] === undefined) return 'a string, not empty'
  const pattern = typeof schema['pattern'] === 'string' ? ` that matches ${schema['pattern']}` : ''
  return `a string${range(schema, 'minLength', 'maxLength', ' characters').replace(' from ', ' of ')}${pattern}`
}

function range(schema: TSchema, low: string, high: string, unit: string): string {
  const from = schema[low]
  const to = schema[high]
  if (from !== undefined && to !== undefined) return ` from ${from} to ${to}${unit}`
  if (from !== undefined) return ` of at least ${from}${unit}`
  if (to !== undefined) return ` of at most ${to}${unit}`
  return ''
}
