import { isObject, isString, parseJson } from '../../core/json.ts'
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

/** Where the text has not begun by then it is read at the end. */
const MAX_OPENING = 256

export function createInputReader(): InputReader {
  /** All of it, only put together at the end: to look into it at each piece would cost its square. */
  let json = ''
  /** What was not read. */
  let pending = ''
  let told = ''
  let hasBegun = false
  let isOver = false

  function begin(): void {
    const opening = OPENING.exec(pending)
    hasBegun = opening !== null
    if (opening) pending = pending.slice(opening[0].length)
    else if (pending.length > MAX_OPENING) isOver = true
  }

  /** The JSON text of the string that may be read now. */
  function nextText(): string {
    const end = CLOSING_QUOTE.exec(pending)
    if (!end) return pending.slice(0, pending.length - (HALF_ESCAPE.exec(pending)?.[1]?.length ?? 0))
    isOver = true
    return pending.slice(0, end.index + end[0].length - 1)
  }

  return {
    push(piece) {
      json += piece
      if (isOver) return ''
      pending += piece
      if (!hasBegun) begin()
      if (!hasBegun) return ''
      const text = nextText()
      const read = parseJson(`"${text}"`)
      if (!isString(read)) return ''
      pending = pending.slice(text.length)
      told += read
      return read
    },
    end() {
      const value = parseJson(json)
      const input = isObject(value) ? value[CUSTOM_ARGUMENT] : undefined
      const whole = isString(input) ? input : told === '' ? json : told
      return { rest: whole.startsWith(told) ? whole.slice(told.length) : '', whole }
    },
  }
}
