import type { JsonObject } from '../core/events.ts'

/** Reading JSON values of unknown form. */

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isString = (value: unknown): value is string => typeof value === 'string'

/** The fields of an object that are not in `known`; undefined when there are none. */
export function restOf(object: JsonObject, known: ReadonlySet<string>): JsonObject | undefined {
  let rest: [string, unknown][] | undefined
  for (const key in object) {
    if (known.has(key)) continue
    rest ??= []
    rest.push([key, object[key]])
  }
  return rest && Object.fromEntries(rest)
}

/** The object without the fields that are undefined, so that an absent field stays absent. */
export const defined = <T extends object>(object: T): T => {
  for (const key of Object.keys(object))
    if (Reflect.get(object, key) === undefined) Reflect.deleteProperty(object, key)
  return object
}

/** A short value in quotes; a long one is only named, never repeated. */
export const quoted = (value: string): string =>
  value.length <= 40 ? JSON.stringify(value) : `a string of ${value.length} characters`

/** What came, in words, without repeating more than a number or a word. */
export function sayKind(value: unknown): string {
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
