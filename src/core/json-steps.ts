import { isObject, type JsonObject } from './json.ts'
import { turnAfterLong } from './turn.ts'

/** JSON text; as a list if it is long, so that no step copies all of it. */
export type JsonText = string | readonly string[]

/** Texts up to this length are joined. */
export const SHORT_TEXT_CHARACTERS = 64 * 1024
/** The fields of a part of an item of a Response object; what is deeper is written at once. */
const MOST_LEVELS = 6

/** Not enumerable: copies of an object do not have it. */
const JSON_TEXT = Symbol('JSON text')

/** The object is final: later writers of the object use this text. */
export const rememberJson = (object: JsonObject, json: JsonText): void =>
  void Reflect.defineProperty(object, JSON_TEXT, { value: json, configurable: true })

export const knownJson = (object: JsonObject): JsonText | undefined => Reflect.get(object, JSON_TEXT)

/** JSON text in pieces, written field by field; the event loop turns after each that took long. */
export async function jsonInSteps(value: unknown): Promise<string[]> {
  const texts: string[] = []
  let short = ''
  let begunAt = performance.now()
  for (const piece of piecesOf(value, MOST_LEVELS)) {
    short += piece
    if (short.length > SHORT_TEXT_CHARACTERS) {
      texts.push(short)
      short = ''
    }
    const turn = turnAfterLong(begunAt)
    if (turn === undefined) continue
    await turn
    begunAt = performance.now()
  }
  return [...texts, short]
}

function* piecesOf(value: unknown, levels: number): Generator<string> {
  const json = isObject(value) ? knownJson(value) : undefined
  if (json !== undefined) yield* typeof json === 'string' ? [json] : json
  // Lists of numbers may be long, and no item of theirs takes a step.
  else if (levels === 0 || typeof value !== 'object' || value === null || isOfScalars(value))
    yield JSON.stringify(value) ?? 'null'
  else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield index === 0 ? '[' : ','
      yield* piecesOf(item, levels - 1)
    }
    yield ']'
  } else yield* fieldsOf(value, levels)
}

const isOfScalars = (value: object): boolean => Array.isArray(value) && !isObject(value[0])

function* fieldsOf(object: object, levels: number): Generator<string> {
  let before = '{'
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue
    yield `${before}${JSON.stringify(name)}:`
    yield* piecesOf(value, levels - 1)
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}
