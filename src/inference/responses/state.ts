import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'

/** The fields of a request about stored state. */
export interface StateOptions {
  /** Keep the response. */
  readonly store: boolean
  /** Answer at once, and run on without the caller's connection. */
  readonly background: boolean
  readonly stream: boolean
  readonly previousResponseId: string | null
}

/**
 * Reads the fields of state; the dialect rejects wrong types. A background response must be stored to be retrieved, so
 * `background` implies `store`, and `store: false` with it is rejected, as at OpenAI.
 */
export function stateOptionsOf(body: JsonObject): StateOptions {
  const { store, background, stream, previous_response_id: previous } = body
  const isBackground = background === true
  if (isBackground && store === false)
    throw badRequest(
      'must not be false together with background: only what is stored can be asked for later',
      'store',
    )
  return {
    store: store === true || isBackground,
    background: isBackground,
    stream: stream === true,
    previousResponseId: typeof previous === 'string' && previous !== '' ? previous : null,
  }
}
