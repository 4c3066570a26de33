import type { Finish, JsonObject } from '../../core/events.ts'
import { asList, defined, fieldsOf, isObject } from '../../core/json.ts'
import type { Closing, InferenceResult, ReplyContext } from '../../core/result.ts'
import { eventsOfChoice } from '../result-events.ts'
import { viewMetadata } from '../usage.ts'
import { candidatesOf, type HeldEnd, indexOf, isGeminiNative, joinedParts, mergedChunks } from './chunks.ts'
import { writeLogprobs } from './decode-candidate.ts'
import { googleReasonOf } from './errors.ts'
import { viewUsage } from './usage.ts'
import { type CandidateParts, endParts, newParts, partsOf } from './write-parts.ts'

/**
 * A complete reply as the body of `:generateContent`. A reply of a provider of the same dialect is the provider's own,
 * except for its id, model, usage and the gateway's fields.
 */
export function writeGeminiReply(result: InferenceResult, reply: ReplyContext, closing: Closing): JsonObject {
  const natives = result.natives.flatMap(({ dialect, data }) =>
    dialect === 'gemini' && isGeminiNative(data) ? [data] : [],
  )
  const own = mergedChunks(natives.map(({ chunk }) => chunk))
  const isRelay = natives.length > 0 && natives.every(({ isRest }) => isRest !== true)
  const lost = new Set<string>()
  const made = isRelay ? own : withRest(viewChoices(result, reply, lost), own)
  return {
    ...made,
    usageMetadata: viewUsage(closing, fieldsOf(own.usageMetadata)),
    modelVersion: reply.model,
    responseId: reply.generationId,
    ...viewMetadata(closing.serviceMetadata, [...lost]),
  }
}

interface Candidate extends JsonObject {
  index: number
  content: { parts: JsonObject[]; role: string }
}

/** Adds what filters left of the provider's own body to the candidates of the neutral events. */
function withRest(candidates: Candidate[], own: JsonObject): JsonObject {
  const { candidates: _, ...fields } = own
  const rests = new Map(candidatesOf(own).map((rest, position) => [indexOf(rest, position), rest] as const))
  const complete = candidates.map((candidate) => {
    const {
      content,
      finishReason: _reason,
      finishMessage: _message,
      ...rest
    } = rests.get(candidate.index) ?? {}
    const more = asList(fieldsOf(content).parts)
    return {
      ...rest,
      ...candidate,
      content: { ...candidate.content, parts: [...candidate.content.parts, ...more] },
    }
  })
  return { candidates: complete, ...fields }
}

const viewChoices = (
  { choices, frames }: InferenceResult,
  reply: ReplyContext,
  lost: Set<string>,
): Candidate[] =>
  choices.map((choice) => {
    const state = newParts(choice.index, reply)
    // A loop of tools is one choice.
    const events = frames?.flatMap((frame) => frame.events) ?? eventsOfChoice(choice)
    const parts = joinedParts(events.flatMap((event) => partsOf(event, state)))
    parts.push(...endParts(state))
    for (const name of state.lost) lost.add(name)
    return defined({
      content: { parts: parts.length > 0 ? parts : [{ text: '' }], role: 'model' },
      ...finishFields(choice.finish, state),
      index: choice.index,
      logprobsResult: choice.logprobs === null ? undefined : writeLogprobs(choice.logprobs),
    })
  })

/**
 * The candidates of the last chunk: why each ended, and the fields beside its text. A prompt that a provider of this
 * dialect blocked has no candidates. The empty text keeps clients from treating the chunk as broken.
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

/** Google's own fields are kept, unless a filter of the gateway ended the answer. */
function ownFields(held: JsonObject | undefined, { reason, native }: Finish): JsonObject {
  if (held === undefined) return {}
  if (reason !== 'content_filter' || native !== null) return held
  const { finishReason: _, finishMessage: _message, ...rest } = held
  return rest
}

/** How a candidate ended, and what it cites. */
function finishFields({ reason, native }: Finish, written: CandidateParts | undefined): JsonObject {
  const { malformed = [] } = written ?? {}
  const grounding = written?.cited.grounding()
  const isMalformed = malformed.length > 0 && (reason === 'stop' || reason === 'tool_calls')
  return {
    finishReason: isMalformed ? 'MALFORMED_FUNCTION_CALL' : googleReasonOf(reason, native),
    ...(isMalformed ? { finishMessage: `Malformed function call: ${malformed.join(', ')}` } : {}),
    ...(isObject(grounding) ? { groundingMetadata: grounding } : {}),
  }
}
