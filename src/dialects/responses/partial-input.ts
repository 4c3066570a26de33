import { isObject, isString } from '../values.ts'
import { CUSTOM_ARGUMENT } from './tool-names.ts'

/** The free text of a custom tool out of the arguments of the function that stood for it, while they come. */
export interface InputReader {
  /** A piece of the arguments → what it adds to the text. */
  push(json: string): string
  /** What is missing at the end, and the whole text. Arguments that are not of the form are the text themselves. */
  end(): { rest: string; whole: string }
}

const OPENING = new RegExp(`^\\s*\\{\\s*"${CUSTOM_ARGUMENT}"\\s*:\\s*"`)
/** Ends in an escape that is not complete. */
const HALF_ESCAPE = /(?<!\\)(?:\\\\)*(\\(?:u[0-9a-fA-F]{0,3})?)$/
const CLOSING_QUOTE = /(?<!\\)(?:\\\\)*"/

export function createInputReader(): InputReader {
  let json = ''
  let told = ''
  /** Where the JSON text begins that was not read; undefined until the string has begun. */
  let at: number | undefined
  let isOver = false

  function push(piece: string): string {
    json += piece
    if (isOver) return ''
    at ??= OPENING.exec(json)?.[0].length
    if (at === undefined) return ''
    let text = json.slice(at)
    const end = CLOSING_QUOTE.exec(text)
    if (end) {
      isOver = true
      text = text.slice(0, end.index + end[0].length - 1)
    } else {
      text = text.slice(0, text.length - (HALF_ESCAPE.exec(text)?.[1]?.length ?? 0))
    }
    const read = parse(`"${text}"`)
    if (!isString(read)) return ''
    at += text.length
    told += read
    return read
  }

  return {
    push,
    end() {
      const value = parse(json)
      const input = isObject(value) ? value[CUSTOM_ARGUMENT] : undefined
      const whole = isString(input) ? input : told === '' ? json : told
      return { rest: whole.startsWith(told) ? whole.slice(told.length) : '', whole }
    },
  }
}

function parse(json: string): unknown {
  try {
    const value: unknown = JSON.parse(json)
    return value
  } catch {
    return undefined
  }
}
