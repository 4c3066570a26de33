import type { FrameBatch, InferenceFrames } from '../../core/events.ts'
import type { Conversation } from '../generation.ts'
import type { Dispatched } from '../upstream/first-content.ts'

/**
 * The reply as the plugins of the request leave it. The provider's frames are counted before a plugin sees them; a loop of
 * server tools has counted its own.
 */
export function throughPlugins(generation: Conversation, dispatched: Dispatched): Dispatched {
  const { opening, request } = generation
  const { plugins } = opening
  if (plugins === undefined) return dispatched
  const looking = plugins.active.filter(({ plugin }) => plugin.frames !== undefined)
  if (looking.length === 0) return dispatched
  const context = plugins.contextOf(request, opening.signal)
  let frames = generation.loop ? dispatched.frames : counted(dispatched.frames, generation)
  for (const { plugin, options } of looking.toReversed())
    frames = plugin.frames?.(frames, options, context) ?? frames
  generation.isCounted = true
  return { ...dispatched, frames }
}

async function* counted(frames: InferenceFrames, { meter }: Conversation): AsyncGenerator<FrameBatch> {
  for await (const batch of frames) {
    for (const frame of batch) meter.see(frame)
    yield batch
  }
}
