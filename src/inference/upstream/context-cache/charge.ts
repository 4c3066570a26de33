import type { InferenceEvent, InferenceFrame, InferenceFrames } from '../../../core/events.ts'
import type { Usage } from '../../../core/usage.ts'
import type { CachedContext } from './store.ts'

/** Identifies the reply that is charged for creating the cache it reads. */
export interface Claim {
  /** Usage reported after the settlement is not charged. */
  isSettled: boolean
}

/**
 * The same frames, with the tokens that were written to the cache added to the usage of the first reply that reads it.
 * `claim` identifies the reply; `settleClaim` settles it.
 */
export function withWriting(frames: InferenceFrames, context: CachedContext, claim: Claim): InferenceFrames {
  const written = (event: InferenceEvent): InferenceEvent => {
    if (event.type !== 'usage') return event
    if (context.making === 'open' && !claim.isSettled) context.making = claim
    return context.making === claim ? { ...event, usage: asWritten(event.usage, context.tokens) } : event
  }
  const withWritten = (frame: InferenceFrame): InferenceFrame =>
    frame.events.some(({ type }) => type === 'usage')
      ? { ...frame, events: frame.events.map(written) }
      : frame
  return {
    async *[Symbol.asyncIterator]() {
      for await (const batch of frames) yield batch.map(withWritten)
    },
  }
}

/** Marks the cache as paid, or leaves its cost to the next reply. */
export function settleClaim(context: CachedContext, claim: Claim, isCharged: boolean): void {
  claim.isSettled = true
  if (context.making === claim) context.making = isCharged ? 'paid' : 'open'
}

/** Moves tokens from cache reads to cache writes. `writtenApartTokens` are charged as both. */
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
