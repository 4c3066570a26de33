import { UpstreamError } from '../core/errors.ts'
import { hasMoreParts, isNestedDeeper, MAX_TEXT_DEPTH, MAX_TEXT_PARTS, parseJson } from '../core/json.ts'

/**
 * The JSON of an event or a body of a provider; undefined for text that is none. Throws `malformed` for JSON that is
 * nested deeper than 128 levels or holds more than 400,000 parts, in whatever field.
 */
export function parseReply(text: string, status: number): unknown {
  const value = parseJson(text)
  if (value === undefined && isNestedDeeper(text, MAX_TEXT_DEPTH)) {
    throw new UpstreamError('malformed', `the reply is nested deeper than ${MAX_TEXT_DEPTH} levels`, {
      status,
    })
  }
  if (value === undefined && hasMoreParts(text, MAX_TEXT_PARTS)) {
    throw new UpstreamError(
      'malformed',
      `the reply holds more than ${MAX_TEXT_PARTS} strings, objects and lists`,
      {
        status,
      },
    )
  }
  return value
}
