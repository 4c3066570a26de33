import type { InferenceEvent, InferenceFrame, InferenceFrames } from '../../core/events.ts'
import type { Usage } from '../../core/usage.ts'
import type { KeptContext } from './store.ts'

/**
 * The same answer, whose usage tells what it was that made the cache, where no other answer is charged for that: the
 * first one that reads it. `claim` names the answer; it is to be settled by `settleClaim`.
 */
export function withWriting(frames: InferenceFrames, context: KeptContext, claim: object): InferenceFrames {
  const written = (event: InferenceEvent): InferenceEvent => {
    if (event.type !== 'usage') return event
    if (context.making === 'open') context.making = claim
    return context.making === claim ? { ...event, usage: asWritten(event.usage, context.tokens) } : event
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

/** Charged, or open to the next answer again. */
export function settleClaim(context: KeptContext, claim: object, isCharged: boolean): void {
  if (context.making === claim) context.making = isCharged ? 'paid' : 'open'
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
