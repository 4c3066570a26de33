import { UpstreamError } from '../core/errors.ts'
import { parseUnchecked } from '../core/json.ts'
import { excessOf, MAX_TEXT_DEPTH, MAX_TEXT_ESCAPES, type TextExcess } from '../core/json-excess.ts'

/**
 * The JSON of an event or a body of a provider; undefined for text that is none. Throws `malformed` for JSON that is
 * nested deeper than 128 levels or holds too much (`core/json.ts`), in whatever field.
 */
export function parseReply(text: string, status: number): unknown {
  if (text !== checked) checkReply(text, status)
  checked = null
  return parseUnchecked(text)
}

/** The text that `checkAhead` has found nothing in, until it is parsed. */
let checked: string | null = null

/** Checks a long event in a step of its own: `parseReply` of the same text does not check it once more. */
export function checkAhead(text: string, status: number): void {
  checkReply(text, status)
  checked = text
}

/** The part of `parseReply` before the parser: for bodies between whose steps others have a turn. */
export function checkReply(text: string, status: number): void {
  const excess = excessOf(text)
  if (excess === null) return
  throw new UpstreamError('malformed', REASONS[excess], { status })
}

const REASONS: Readonly<Record<TextExcess, string>> = {
  depth: `the reply is nested deeper than ${MAX_TEXT_DEPTH} levels`,
  parts: 'the reply holds too many strings, objects and lists',
  escapes: `the reply holds more than ${MAX_TEXT_ESCAPES} escape sequences in its strings`,
}
