import type { InferenceResult } from '../../core/result.ts'
import type { Ingress } from '../../dialects/dialect.ts'
import type { Conversation } from '../generation.ts'
import { collect, collectInOrder } from '../reply/collect.ts'
import { dispatch } from '../upstream/dispatch.ts'
import type { Dispatched } from '../upstream/first-content.ts'

/** The complete reply, before its settlement. */
export async function runToEnd(
  generation: Conversation,
  gather?: Ingress['gather'],
): Promise<{ dispatched: Dispatched; result: InferenceResult }> {
  const { loop } = generation
  const dispatched = await (loop ? loop.start() : dispatch(generation, gather))
  generation.dropped = dispatched.dropped
  const result = await (loop
    ? collectInOrder(dispatched.frames)
    : collect(dispatched.frames, generation.isCounted ? uncounted : generation.meter.see))
  generation.content?.takeResult(result)
  return { dispatched, result }
}

const uncounted = (): void => undefined
