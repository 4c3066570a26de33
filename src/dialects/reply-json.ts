import { UpstreamError } from '../core/errors.ts'
import { excessOf, MAX_TEXT_DEPTH, parsed } from '../core/json.ts'

/**
 * The JSON of an event or a body of a provider; undefined for text that is none. Throws `malformed` for JSON that is
 * nested deeper than 128 levels or holds too much (`core/json.ts`), in whatever field.
 */
export function parseReply(text: string, status: number): unknown {
  const excess = excessOf(text)
  if (excess === null) return parsed(text)
  const reason =
    excess === 'depth'
      ? `the reply is nested deeper than ${MAX_TEXT_DEPTH} levels`
      : 'the reply holds too many strings, objects and lists'
  throw new UpstreamError('malformed', reason, { status })
}
