import { isDeepStrictEqual } from 'node:util'
import { RE2JS } from 're2js'
import type { JsonObject } from '../../core/events.ts'
import { isObject, isString, textsIn } from '../../core/json.ts'

/** The keywords of JSON Schema that look at one value alone. */

/** A caller may send any schema: the work and the depth are bounded, and no code is made of it. */
const MOST_STEPS = 200_000
/** Longer patterns and texts are not matched. */
const LONGEST_PATTERN = 500
const LONGEST_MATCHED = 10_000

export class TooComplex extends Error {}

/** One check of a value. */
export interface Check {
  /** The schema that references lead into. */
  readonly root: unknown
  /** Keywords that were not checked. */
  readonly unchecked: Set<string>
  readonly patterns: Map<string, RE2JS | null>
  steps: number
  depth: number
}

export const createCheck = (root: unknown): Check => ({
  root,
  unchecked: new Set(),
  patterns: new Map(),
  steps: 0,
  depth: 0,
})

export function count(check: Check, steps = 1): void {
  check.steps += steps
  if (check.steps > MOST_STEPS) throw new TooComplex()
}

/** `path` is where in the answer; '' for the answer itself. */
export const wrong = (path: string, what: string): string =>
  `${path === '' ? 'the answer' : path.slice(0, 200)} ${what}`

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value

const isOfType = (value: unknown, type: unknown): boolean =>
  type === 'integer' ? Number.isInteger(value) : typeOf(value) === type

export function ofType(value: unknown, { type, nullable }: JsonObject, path: string): string | null {
  if (type === undefined || (nullable === true && value === null)) return null
  const types = Array.isArray(type) ? textsIn(type) : [type]
  if (types.some((each) => isOfType(value, each))) return null
  return wrong(path, `must be ${types.map(String).join(' or ').slice(0, 100)}, not ${typeOf(value)}`)
}

export function ofValues(value: unknown, schema: JsonObject, path: string, check: Check): string | null {
  if (schema.const !== undefined && !isSame(value, schema.const, check))
    return wrong(path, `must be ${shown(schema.const)}`)
  if (!Array.isArray(schema.enum) || (schema.nullable === true && value === null)) return null
  if (schema.enum.some((each) => isSame(value, each, check))) return null
  return wrong(path, `must be one of ${schema.enum.slice(0, 10).map(shown).join(', ')}`)
}

function isSame(a: unknown, b: unknown, check: Check): boolean {
  count(check)
  if (typeof a !== 'object' || typeof b !== 'object') return a === b
  count(check, sizeOf(b, check))
  return isDeepStrictEqual(a, b)
}

/** The number of values in a value, as far as there is work left for it. */
function sizeOf(value: unknown, check: Check): number {
  let size = 1
  const rest: unknown[] = [value]
  for (let next = rest.pop(); next !== undefined || rest.length > 0; next = rest.pop()) {
    if (typeof next !== 'object' || next === null) continue
    for (const inner of Object.values(next)) {
      size += 1
      if (size > MOST_STEPS) throw new TooComplex()
      rest.push(inner)
    }
  }
  count(check)
  return size
}

const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 60) ?? ''

export function ofNumber(value: number, schema: JsonObject, path: string): string | null {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  const least = exclusiveMinimum === true ? minimum : exclusiveMinimum
  const most = exclusiveMaximum === true ? maximum : exclusiveMaximum
  if (typeof minimum === 'number' && value < minimum) return wrong(path, `must be at least ${minimum}`)
  if (typeof maximum === 'number' && value > maximum) return wrong(path, `must be at most ${maximum}`)
  if (typeof least === 'number' && value <= least) return wrong(path, `must be more than ${least}`)
  if (typeof most === 'number' && value >= most) return wrong(path, `must be less than ${most}`)
  if (typeof multipleOf !== 'number' || multipleOf <= 0) return null
  const times = value / multipleOf
  // 0.3 is a multiple of 0.1, as far as a person can tell.
  return Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times))
    ? null
    : wrong(path, `must be a multiple of ${multipleOf}`)
}

export function ofString(value: string, schema: JsonObject, path: string, check: Check): string | null {
  const { minLength, maxLength, pattern } = schema
  if (typeof minLength === 'number' || typeof maxLength === 'number') {
    const length = lengthOf(value)
    if (typeof minLength === 'number' && length < minLength)
      return wrong(path, `must have at least ${minLength} characters`)
    if (typeof maxLength === 'number' && length > maxLength)
      return wrong(path, `must have at most ${maxLength} characters`)
  }
  if (!isString(pattern) || matches(value, pattern, check) !== false) return null
  return wrong(path, `must match ${shown(pattern)}`)
}

/** In code points, as JSON Schema counts. */
function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length += 1
  return length
}

/** By RE2, which takes linear time. Null: it was not matched. */
export function matches(text: string, pattern: string, check: Check): boolean | null {
  const compiled = compiledBy(pattern, check)
  if (compiled !== null && text.length <= LONGEST_MATCHED) {
    count(check, 1 + Math.ceil((compiled.programSize() * text.length) / STATES_PER_STEP))
    return compiled.matcher(text).find()
  }
  check.unchecked.add('pattern')
  return null
}
const STATES_PER_STEP = 20

function compiledBy(pattern: string, check: Check): RE2JS | null {
  const known = check.patterns.get(pattern)
  if (known !== undefined) return known
  count(check, 500)
  let compiled: RE2JS | null = null
  try {
    if (pattern.length <= LONGEST_PATTERN) compiled = RE2JS.compile(pattern)
  } catch {
    // JavaScript has forms that RE2 lacks.
  }
  check.patterns.set(pattern, compiled)
  return compiled
}

export function hasDuplicate(value: readonly unknown[], check: Check): boolean {
  const seen = new Set<string>()
  for (const item of value) {
    count(check, sizeOf(item, check))
    const key = JSON.stringify(sorted(item))
    if (seen.has(key)) return true
    seen.add(key)
  }
  return false
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  return Object.keys(value)
    .sort()
    .map((name) => [name, sorted(value[name])])
}
