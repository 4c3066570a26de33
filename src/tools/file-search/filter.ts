import { badRequest } from '../../core/errors.ts'
import type { SearchableFile } from '../../core/file-search.ts'
import { isObject, isString } from '../../core/json.ts'

type Filter = (file: SearchableFile) => boolean
type Value = string | number

const KEYS = ['filename', 'mime_type', 'size_bytes', 'created_at'] as const
const COMPARISONS: Readonly<Record<string, (left: Value, right: Value) => boolean>> = {
  eq: (left, right) => left === right,
  ne: (left, right) => left !== right,
  gt: (left, right) => left > right,
  gte: (left, right) => left >= right,
  lt: (left, right) => left < right,
  lte: (left, right) => left <= right,
}
const DEEPEST = 5
const MOST_FILTERS = 50
const MOST_VALUES = 1_000

/**
 * OpenAI's filters, over what is known of a file: its `filename`, `mime_type`, `size_bytes`, and `created_at` in Unix
 * seconds. Throws a 400 with the place.
 */
export function readFilter(filter: unknown, place: string): Filter {
  if (filter === undefined || filter === null) return () => true
  let left = MOST_FILTERS
  function read(value: unknown, at: string, depth: number): Filter {
    left -= 1
    if (left < 0 || depth > DEEPEST)
      throw badRequest(`may have ${MOST_FILTERS} conditions in ${DEEPEST} levels`, place)
    if (!isObject(value)) throw badRequest('must be an object', at)
    const { type, filters } = value
    if (type !== 'and' && type !== 'or') return readComparison(value, at)
    if (!Array.isArray(filters) || filters.length === 0)
      throw badRequest('must be a list of filters', `${at}.filters`)
    const all = filters.map((each: unknown, i) => read(each, `${at}.filters[${i}]`, depth + 1))
    return type === 'and'
      ? (file) => all.every((each) => each(file))
      : (file) => all.some((each) => each(file))
  }
  return read(filter, place, 1)
}

function readComparison({ type, key, value }: Record<string, unknown>, at: string): Filter {
  const field = KEYS.find((name) => name === key)
  if (field === undefined) throw badRequest(`must be one of ${KEYS.join(', ')}`, `${at}.key`)
  const isNumber = field === 'size_bytes' || field === 'created_at'
  const fits = (each: unknown): each is Value =>
    isNumber ? typeof each === 'number' && Number.isFinite(each) : isString(each)
  const mustFit = `must be ${isNumber ? 'a number' : 'a text'}`
  if (type === 'in' || type === 'nin') {
    if (!Array.isArray(value) || value.length > MOST_VALUES || !value.every(fits))
      throw badRequest(`${mustFit}, each of a list`, `${at}.value`)
    const values = new Set<Value>(value)
    return (file) => values.has(file[field]) === (type === 'in')
  }
  const compare = isString(type) && Object.hasOwn(COMPARISONS, type) ? COMPARISONS[type] : undefined
  if (compare === undefined)
    throw badRequest(`must be one of ${Object.keys(COMPARISONS).join(', ')}, in, nin, and, or`, `${at}.type`)
  if (!fits(value)) throw badRequest(mustFit, `${at}.value`)
  return (file) => compare(file[field], value)
}
