import type { FrameBatch, InferenceFrames } from '../../core/events.ts'
import type { Conversation } from '../generation.ts'
import type { Dispatched } from '../upstream/first-content.ts'
import { framesOf, newRecording } from './frames.ts'
import type { Lookup } from './lookup.ts'

/** Turns the frames of a streamed reply into those of one that is not streamed. */
export type Gather = (frames: FrameBatch) => FrameBatch

/** A cache hit, converted by `gather`; else the reply of `send`, which is cached if it is complete. */
export async function throughCache(
  generation: Conversation,
  cached: Lookup,
  send: (generation: Conversation) => Promise<Dispatched>,
  gather: Gather | undefined,
): Promise<Dispatched> {
  const { hit } = cached
  if (hit === null) {
    const dispatched = await send(generation)
    return { ...dispatched, frames: recorded(dispatched, generation, cached) }
  }
  const frames = framesOf(hit.answer.bytes)
  return { attempt: hit.attempt, frames: atOnce(gather ? gather(frames) : frames), dropped: [] }
}

async function* atOnce(batch: FrameBatch): InferenceFrames & AsyncGenerator<FrameBatch> {
  yield batch
}

/**
 * The same frames, recorded. A stream that ends normally is complete: a truncated one throws, or is not read to its end.
 * The reader settles afterwards, so the reply is cached once its row is committed.
 */
async function* recorded(
  { attempt, frames }: Dispatched,
  generation: Conversation,
  cached: Lookup,
): InferenceFrames & AsyncGenerator<FrameBatch> {
  const recording = newRecording(cached.mostBytes, attempt.outputBound === undefined)
  for await (const batch of frames) {
    recording.add(batch)
    yield batch
  }
  generation.onComplete = () => {
    const bytes = recording.bytes()
    if (bytes !== null) cached.keep(generation.id, attempt, bytes)
  }
}
