import type { Caller } from '../../core/caller.ts'
import type { JsonObject } from '../../core/events.ts'
import { retainsNothing } from '../../core/guardrail.ts'
import { isObject } from '../../core/json.ts'
import type { RememberedItems } from '../../core/remembered-items.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { ResponseRecorder } from '../reply/recorder.ts'
import { mayRetain } from '../upstream/context-cache/apply.ts'
import { outputItems } from './items.ts'

/**
 * Remembers the items of a reply whose request does not set `store`: clients that assume storage send `item_reference` in
 * their next request (the AI SDK's default for OpenAI, 2026). Undefined if `store` is set, or if the caller requires zero
 * data retention.
 */
export function rememberingRecorder(
  { body, preferences }: Pick<InferenceRequest, 'body' | 'preferences'>,
  { key, workspace }: Caller,
  remembered: RememberedItems | null,
): ResponseRecorder | undefined {
  const isStoreUnset = body['store'] === undefined || body['store'] === null
  if (remembered === null || !isStoreUnset || retainsNothing(key) || !mayRetain(preferences)) return undefined
  return {
    begin: async () => undefined,
    async end(ending, reply) {
      if (ending === 'complete' && reply !== null)
        remembered.add(workspace.id, outputItems(reply).map(withoutLogprobs))
    },
  }
}

/** Removes log probabilities: they are not input, and are the largest part of a reply that has them. */
function withoutLogprobs(item: JsonObject): JsonObject {
  const { content } = item
  if (!Array.isArray(content)) return item
  return {
    ...item,
    content: content.map((part: unknown) => {
      if (!isObject(part)) return part
      const { logprobs: _, ...rest } = part
      return rest
    }),
  }
}
