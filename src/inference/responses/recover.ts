import type { ResponseStore } from '../../core/stored-response.ts'
import { failed } from './stored-reply.ts'

const INTERRUPTED = 'The gateway stopped before this response was complete'

/**
 * Fails responses that a former process left running; called before the first request. Returns their number. Calls
 * `onError` for a response that cannot be opened, and does not change it.
 */
export async function failInterrupted(
  store: ResponseStore,
  onError: (error: unknown, responseId: string) => void,
): Promise<number> {
  let ended = 0
  for (const response of await store.unfinished()) {
    try {
      const reply = failed((await store.open(response)).reply, INTERRUPTED)
      if (await store.advance(response.id, { status: 'failed', reply })) ended += 1
    } catch (error) {
      onError(error, response.id)
    }
  }
  return ended
}
