import type { FrameBatch, InferenceFrames } from '../../core/events.ts'
import type { Conversation } from '../generation.ts'
import type { Dispatched } from '../upstream/first-content.ts'
import { framesOf, newRecording } from './frames.ts'
import type { Lookup } from './lookup.ts'

/** How a reply that was streamed would have been given whole. */
export type Gather = (frames: FrameBatch) => FrameBatch

/** A cache hit, in the form that `gather` gives it; else what `ask` answers, which is cached when it was whole. */
export async function throughCache(
  generation: Conversation,
  cached: Lookup,
  ask: (generation: Conversation) => Promise<Dispatched>,
  gather: Gather | undefined,
): Promise<Dispatched> {
  const { hit } = cached
  if (hit === null) {
    const asked = await ask(generation)
    return { ...asked, frames: recorded(asked, generation, cached) }
  }
  const frames = framesOf(hit.answer.bytes)
  return { attempt: hit.attempt, frames: atOnce(gather ? gather(frames) : frames), dropped: [] }
}

async function* atOnce(batch: FrameBatch): InferenceFrames & AsyncGenerator<FrameBatch> {
  yield batch
}

/**
 * The same frames. An end that is reached is a whole one: any other is thrown, or nobody reads on to it. Whoever reads
 * them settles: what its workspace logs of the answer is noted before that.
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
    const bytes = recording.whole()
    if (bytes !== null) cached.keep(generation.id, attempt, bytes)
  }
}
