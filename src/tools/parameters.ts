import { badRequest } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'

/** Reads the `parameters` of a tool's entry in `tools`. A null is an absent field; a wrong one is a 400 with its place. */
export interface ParameterReader {
  integer(name: string, most: number): number | undefined
  text(name: string): string | undefined
  /** One of these. */
  word(name: string, words: readonly string[]): string | undefined
  texts(name: string): readonly string[] | undefined
  object(name: string): ParameterReader | undefined
  /** A number from 0 to 1. */
  fraction(name: string): number | undefined
  /** As it came. */
  json(name: string): unknown
  /** Throws for a field that was not asked for. */
  end(): void
}

const MOST_CHARACTERS = 200
const MOST_ITEMS = 1_000

export function readParameters(parameters: JsonObject, place: string): ParameterReader {
  const known = new Set<string>()
  const at = (name: string): string => `${place}.${name}`
  function given(name: string): unknown {
    known.add(name)
    return parameters[name] ?? undefined
  }
  return {
    integer(name, most) {
      const value = given(name)
      if (value === undefined) return undefined
      if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most) return value
      throw badRequest(`must be a whole number from 1 to ${most}`, at(name))
    },
    text(name) {
      const value = given(name)
      if (value === undefined) return undefined
      if (isShort(value)) return value
      throw badRequest(`must be a text of 1 to ${MOST_CHARACTERS} characters`, at(name))
    },
    word(name, words) {
      const value = given(name)
      if (value === undefined) return undefined
      const known = words.find((word) => word === value)
      if (known !== undefined) return known
      throw badRequest(`must be one of ${words.join(', ')}`, at(name))
    },
    texts(name) {
      const value = given(name)
      if (value === undefined) return undefined
      if (Array.isArray(value) && value.length <= MOST_ITEMS && value.every(isText)) return value
      throw badRequest('must be a list of texts', at(name))
    },
    object(name) {
      const value = given(name)
      if (value === undefined) return undefined
      if (typeof value === 'object' && !Array.isArray(value)) return readParameters({ ...value }, at(name))
      throw badRequest('must be an object', at(name))
    },
    fraction(name) {
      const value = given(name)
      if (value === undefined) return undefined
      if (typeof value === 'number' && value >= 0 && value <= 1) return value
      throw badRequest('must be a number from 0 to 1', at(name))
    },
    json: given,
    end() {
      const unknown = Object.keys(parameters).find((name) => !known.has(name))
      if (unknown === undefined) return
      throw badRequest(
        `is not a parameter of this tool; it has ${[...known].join(', ')}`,
        at(unknown.slice(0, 60)),
      )
    },
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isShort = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MOST_CHARACTERS
