import { UpstreamError } from '../core/errors.ts'
import { holdsTooMuch, isNestedDeeper, MAX_TEXT_DEPTH, parseJson } from '../core/json.ts'

/**
 * The JSON of an event or a body of a provider; undefined for text that is none. Throws `malformed` for JSON that is
 * nested deeper than 128 levels or holds too much (`core/json.ts`), in whatever field.
 */
export function parseReply(text: string, status: number): unknown {
  const value = parseJson(text)
  if (value === undefined && isNestedDeeper(text, MAX_TEXT_DEPTH)) {
    throw new UpstreamError('malformed', `the reply is nested deeper than ${MAX_TEXT_DEPTH} levels`, {
      status,
    })
  }
  if (value === undefined && holdsTooMuch(text)) {
    throw new UpstreamError('malformed', 'the reply holds too many strings, objects and lists', { status })
  }
  return value
}
