import type { FrameBatch, InferenceFrames } from '../../core/events.ts'
import type { Dispatched } from '../dispatch.ts'
import type { Exchange } from '../exchange.ts'
import { framesOf, newRecording } from './frames.ts'
import type { Lookup } from './lookup.ts'

/**
 * What is kept, told again in the form that `gather` gives it; else what `ask` answers, which is kept when it was
 * whole.
 */
export function throughCache(
  exchange: Exchange,
  ask: () => Promise<Dispatched>,
  gather?: (frames: FrameBatch) => FrameBatch,
): Promise<Dispatched> {
  const { cached } = exchange
  if (!cached) return ask()
  const { hit } = cached
  if (hit) {
    const told = framesOf(hit.answer.bytes)
    const frames = atOnce(gather ? gather(told) : told)
    return Promise.resolve({ attempt: hit.attempt, frames, dropped: [] })
  }
  return ask().then((asked) => ({ ...asked, frames: recorded(asked, exchange, cached) }))
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
  exchange: Exchange,
  cached: Lookup,
): InferenceFrames & AsyncGenerator<FrameBatch> {
  const recording = newRecording(cached.mostBytes, attempt.outputBound === undefined)
  for await (const batch of frames) {
    recording.add(batch)
    yield batch
  }
  exchange.onWhole = () => {
    const bytes = recording.whole()
    if (bytes !== null) cached.keep(exchange.generationId, attempt, bytes)
  }
}
