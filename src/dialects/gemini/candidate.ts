import type { Finish, InferenceEvent, JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import { finishReasonOf, nativeReasonOf } from './finish.ts'
import { createFunctionCalls, type FunctionCalls } from './function-calls.ts'
import { createGrounding, type Grounding } from './grounding.ts'
import { readLogprobs } from './logprobs.ts'
import { signatureDetail, thoughtDetail } from './signatures.ts'

/** What is remembered of one candidate between chunks. */
export interface CandidateState {
  readonly index: number
  readonly calls: FunctionCalls
  readonly grounding: Grounding
  /** Google's word, the last that was told: older models say STOP on every chunk. */
  native: string | null
  hasContent: boolean
}

export const newCandidate = (index: number): CandidateState => ({
  index,
  calls: createFunctionCalls(index),
  grounding: createGrounding(index),
  native: null,
  hasContent: false,
})

export const finishOf = ({ index, native, calls }: CandidateState): Finish => ({
  choice: index,
  reason: finishReasonOf(native, calls.has()),
  native,
})

/** Reads one entry of `candidates`: it may have no content, and content no parts. */
export function readCandidate(raw: JsonObject, state: CandidateState, events: InferenceEvent[]): void {
  const before = events.length
  const content = isObject(raw['content']) ? raw['content'] : {}
  const parts = Array.isArray(content['parts']) ? content['parts'] : []
  for (const part of parts) if (isObject(part)) readPart(part, state, events)
  if (events.length > before) state.hasContent = true
  state.grounding.addSources(raw, events)
  readLogprobs(raw['logprobsResult'], state.index, events)
  state.native = nativeReasonOf(raw['finishReason']) ?? state.native
}

/** A signature may stand on a part that is otherwise empty: it is what the next turn needs. */
function readPart(part: JsonObject, state: CandidateState, events: InferenceEvent[]): void {
  const { text, functionCall, inlineData, fileData } = part
  const signature = signatureOf(part)
  if (isObject(functionCall)) {
    state.calls.add(functionCall, signature, events)
    return
  }
  const isThought = part['thought'] === true
  if (isString(text) && text !== '') readText(text, isThought, state, events)
  // What an image model draws while it thinks is no answer.
  if (isObject(inlineData) && !isThought) readInline(inlineData, state.index, events)
  if (isObject(fileData) && isString(fileData['fileUri']) && /^image\//.test(String(fileData['mimeType']))) {
    events.push({ type: 'image', choice: state.index, url: fileData['fileUri'] })
  }
  if (signature !== undefined) {
    events.push({ type: 'reasoning-detail', choice: state.index, detail: signatureDetail(signature) })
  }
}

function readText(text: string, isThought: boolean, state: CandidateState, events: InferenceEvent[]): void {
  const choice = state.index
  if (isThought) {
    events.push(
      { type: 'reasoning-delta', choice, text },
      { type: 'reasoning-detail', choice, detail: thoughtDetail(text) },
    )
    return
  }
  state.calls.close(events)
  state.grounding.addText(text)
  events.push({ type: 'text-delta', choice, text })
}

/** Pictures are data URLs; speech is raw PCM (`audio/L16;rate=24000`). */
function readInline({ mimeType, data }: JsonObject, choice: number, events: InferenceEvent[]): void {
  if (!isString(mimeType) || !isString(data) || data === '') return
  if (mimeType.startsWith('image/')) {
    events.push({ type: 'image', choice, url: `data:${mimeType};base64,${data}` })
  } else if (mimeType.startsWith('audio/')) {
    events.push({ type: 'audio-delta', choice, audio: { data, mime_type: mimeType } })
  }
}

function signatureOf(part: JsonObject): string | undefined {
  const signature = part['thoughtSignature'] ?? part['thought_signature']
  return isString(signature) && signature !== '' ? signature : undefined
}
