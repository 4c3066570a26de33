import type { InferenceEvent, InferenceFrame, InferenceFrames } from '../../core/events.ts'
import type { Usage } from '../../core/usage.ts'
import type { KeptContext } from './store.ts'

/**
 * The same answer, whose usage tells what it was that made the cache: the first answer that reads one has written it.
 * Exactly one answer is charged with it, also when several begin at once.
 */
export function withWriting(frames: InferenceFrames, context: KeptContext): InferenceFrames {
  let isOurs: boolean | null = null
  const written = (event: InferenceEvent): InferenceEvent => {
    if (event.type !== 'usage') return event
    if (isOurs === null) {
      isOurs = !context.isPaid
      context.isPaid = true
    }
    return isOurs ? { ...event, usage: asWritten(event.usage, context.tokens) } : event
  }
  const told = (frame: InferenceFrame): InferenceFrame =>
    frame.events.some(({ type }) => type === 'usage')
      ? { ...frame, events: frame.events.map(written) }
      : frame
  return {
    async *[Symbol.asyncIterator]() {
      for await (const batch of frames) yield batch.map(told)
    },
  }
}

/** What was read is what was written before; it was paid for twice. */
function asWritten(usage: Usage, tokens: number | null): Usage {
  const { cacheReadTokens, cacheWriteTokens } = usage
  const made = Math.min(tokens ?? cacheReadTokens, cacheReadTokens)
  return {
    ...usage,
    cacheReadTokens: cacheReadTokens - made,
    cacheWriteTokens: cacheWriteTokens + made,
    writtenApartTokens: made,
  }
}
