import type { Finish, JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import type { HeldEnd } from './chunks.ts'
import { googleReasonOf } from './finish.ts'
import type { CandidateParts } from './write-parts.ts'

/**
 * The candidates of the last chunk: why each ended, and what stands beside its text. Of a prompt that a provider of
 * this dialect blocked there are none. The empty text keeps clients from taking the chunk for a broken one.
 */
export function viewEnd(
  finishes: readonly Finish[],
  { candidates: held, fields }: HeldEnd,
  written: ReadonlyMap<number, CandidateParts>,
  isRelay: boolean,
): JsonObject {
  if (isRelay && held.size === 0 && fields.promptFeedback !== undefined) return {}
  const candidates = finishes.map((finish) => ({
    content: { parts: [{ text: '' }], role: 'model' },
    ...finishFields(finish, written.get(finish.choice)),
    ...ownFields(held.get(finish.choice), finish),
    index: finish.choice,
  }))
  return { candidates }
}

/** Google's own words stand, unless a filter of the gateway ended the answer. */
function ownFields(held: JsonObject | undefined, { reason, native }: Finish): JsonObject {
  if (held === undefined) return {}
  if (reason !== 'content_filter' || native !== null) return held
  const { finishReason: _, finishMessage: _message, ...rest } = held
  return rest
}

/** How a candidate ended, and what it cites. */
export function finishFields({ reason, native }: Finish, written: CandidateParts | undefined): JsonObject {
  const { malformed = [] } = written ?? {}
  const grounding = written?.cited.grounding()
  const isMalformed = malformed.length > 0 && (reason === 'stop' || reason === 'tool_calls')
  return {
    finishReason: isMalformed ? 'MALFORMED_FUNCTION_CALL' : googleReasonOf(reason, native),
    ...(isMalformed ? { finishMessage: `Malformed function call: ${malformed.join(', ')}` } : {}),
    ...(isObject(grounding) ? { groundingMetadata: grounding } : {}),
  }
}
