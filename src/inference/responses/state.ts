import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'

/** The fields of a request about stored state. */
export interface StateOptions {
  /** Store the response. */
  readonly store: boolean
  /** Return immediately, and run independently of the caller's connection. */
  readonly background: boolean
  readonly stream: boolean
  readonly previousResponseId: string | null
}

/**
 * Reads these fields; the dialect's parser rejects wrong types. A background response must be stored to be retrieved, so
 * `background` implies `store`, and `store: false` with it is rejected, as by OpenAI.
 */
export function stateOptionsOf(body: JsonObject): StateOptions {
  const { store, background, stream, previous_response_id: previous } = body
  const isBackground = background === true
  if (isBackground && store === false)
    throw badRequest(
      'must not be false together with background: only a stored response can be retrieved later',
      'store',
    )
  return {
    store: store === true || isBackground,
    background: isBackground,
    stream: stream === true,
    previousResponseId: typeof previous === 'string' && previous !== '' ? previous : null,
  }
}
