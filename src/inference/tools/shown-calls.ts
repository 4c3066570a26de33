import type { InferenceEvent } from '../../core/events.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { EndedCall } from './ended-call.ts'
import { chatDetailOf } from './former-calls.ts'
import type { Shown } from './step.ts'

/** A call that has ended, as the caller gets it. */
export const eventsOf = (
  { call, result }: EndedCall,
  { dialect }: Pick<InferenceRequest, 'dialect'>,
): InferenceEvent[] => [
  { type: 'server-tool', call },
  ...(result?.citations ?? []).map((annotation) => ({ type: 'annotation' as const, choice: 0, annotation })),
  // Responses has the image in the item of the call.
  ...(dialect === 'responses' ? [] : (result?.images ?? [])).map((url) => ({
    type: 'image' as const,
    choice: 0,
    url,
  })),
]

/** A client of chat that answers its own calls has no other place for the results that the next turn needs. */
export const carriedEvents = (
  results: readonly EndedCall[],
  { dialect }: Pick<InferenceRequest, 'dialect'>,
  shown: Shown,
): InferenceEvent[] =>
  dialect !== 'chat'
    ? []
    : results.map(({ call, message }) => {
        const detail = chatDetailOf(call, message, shown.nextDetail++)
        return { type: 'reasoning-detail', choice: 0, detail }
      })
