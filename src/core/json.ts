import { excessOf } from './json-excess.ts'

export type JsonObject = Record<string, unknown>

/**
 * Readers of JSON of unknown form: undefined for a value of another type, never an exception. A list of another type
 * is empty, so that it can be iterated.
 */

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isString = (value: unknown): value is string => typeof value === 'string'

export const asObject = (value: unknown): JsonObject | undefined => (isObject(value) ? value : undefined)

const NO_FIELDS: Readonly<JsonObject> = Object.freeze({})

/** The object, or an empty one: for destructuring. */
export const fieldsOf = (value: unknown): Readonly<JsonObject> => (isObject(value) ? value : NO_FIELDS)

const NO_ITEMS: readonly unknown[] = Object.freeze([])

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : NO_ITEMS)

/** The objects of a list. Its other items are skipped. */
export const objectsIn = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : []

/** The strings of a list. Its other items are skipped. */
export const textsIn = (value: unknown): string[] => (Array.isArray(value) ? value.filter(isString) : [])

export const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** The text, '' for a value of another type. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The text of a part: some APIs write a bare string, others an object. */
export const textOfPart = (part: unknown): string => textOf(isObject(part) ? part['text'] : part)

/** A text that is not empty. */
export const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

export const asFilledText = (value: unknown): string | undefined => (isText(value) ? value : undefined)

/** A finite number. */
export const asNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined

/** A finite number from 0 up. */
export const asAmount = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined

/** An integer from 0 up, exact. */
export const asCount = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined

/** The fields of an object that are not in `known`; undefined if it has no others. */
export function restOf(object: JsonObject, known: ReadonlySet<string>): JsonObject | undefined {
  let rest: JsonObject | undefined
  for (const key in object) {
    if (known.has(key)) continue
    rest ??= {}
    setField(rest, key, object[key])
  }
  return rest
}

/** Sets a field of an object. `__proto__` becomes a field as well, where an assignment would call its setter. */
export function setField(object: JsonObject, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value
  else Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true })
}

/** The object without the fields that are undefined, so that an absent field stays absent. */
export const defined = <T extends object>(object: T): T => {
  for (const key of Object.keys(object))
    if (Reflect.get(object, key) === undefined) Reflect.deleteProperty(object, key)
  return object
}

/** Parses JSON text; undefined if it is not JSON, is nested deeper than 128 levels, or exceeds `json-excess.ts`. */
export const parseJson = (text: string): unknown =>
  excessOf(text) === null ? parseUnchecked(text) : undefined

/** The object that the text holds; undefined for anything else, with the bounds of `parseJson`. */
export const parseObject = (text: string): JsonObject | undefined => asObject(parseJson(text))

/** Parses text that Sluice wrote, or that `excessOf` accepted; undefined if it is not JSON. */
export function parseUnchecked(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}
