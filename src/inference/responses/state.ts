import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'

/** What a request says of state, apart from what it asks the model. */
export interface StateAsked {
  /** Keep the response. */
  readonly store: boolean
  /** Answer at once, and run on without the caller's connection. */
  readonly background: boolean
  readonly stream: boolean
  readonly previousResponseId: string | null
}

/**
 * Reads the fields of state; what is of a wrong type is left for the dialect to refuse. A background response must be
 * kept to be asked for, so `background` stands for `store` unless that is refused outright: OpenAI's rule, whose
 * `store` is on unless switched off.
 */
export function stateAsked(body: JsonObject): StateAsked {
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
