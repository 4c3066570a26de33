import type { JsonObject, ReasoningDetail } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import type { Message, ToolCall } from '../../core/request.ts'

/**
 * Thought signatures between turns. Gemini puts one beside a functionCall, on a text, or on an empty text at the end;
 * Gemini 3 answers 400 when the one of a call is missing in the next turn. Outward they are `reasoning_details`, in
 * OpenRouter's form; a call's travels on the call too, where Google's OpenAI-compatible API has it, for clients that
 * replay calls and drop details.
 */
const FORMAT = 'google-gemini-v1'

export const thoughtDetail = (text: string): ReasoningDetail => ({
  type: 'reasoning.text',
  text,
  format: FORMAT,
  index: 0,
})

/** `callId`: the call that it belongs to; absent: it stood on a text. */
export const signatureDetail = (data: string, callId?: string): ReasoningDetail => ({
  type: 'reasoning.encrypted',
  data,
  ...(callId === undefined ? {} : { id: callId }),
  format: FORMAT,
  index: 0,
})

export const callExtra = (signature: string): JsonObject => ({
  extra_content: { google: { thought_signature: signature } },
})

/** True for details that Gemini wrote. */
export const isOwnDetail = ({ format }: JsonObject): boolean => format === FORMAT

export interface Replayed {
  readonly thoughts: string
  readonly byCall: ReadonlyMap<string, string>
  /** Those of texts, in order. */
  readonly loose: readonly string[]
  /** There are pieces that Gemini did not write. */
  readonly hasForeign: boolean
}

/** What an assistant message of a former turn brings back. */
export function replayedOf({ reasoningDetails, toolCalls }: Message): Replayed {
  let thoughts = ''
  let hasForeign = false
  const byCall = new Map<string, string>()
  const loose: string[] = []
  const calls = new Set((toolCalls ?? []).map(({ id }) => id))
  for (const { type, format, text, data, id } of reasoningDetails ?? []) {
    if (format !== FORMAT) hasForeign = true
    else if (type === 'reasoning.text' && isString(text)) thoughts += text
    else if (type === 'reasoning.encrypted' && isString(data)) {
      if (isString(id) && calls.has(id)) byCall.set(id, data)
      else loose.push(data)
    }
  }
  for (const call of toolCalls ?? []) {
    const own = ownSignature(call)
    if (own !== undefined && !byCall.has(call.id)) byCall.set(call.id, own)
  }
  return { thoughts, byCall, loose, hasForeign }
}

function ownSignature({ extra }: ToolCall): string | undefined {
  const content = extra?.['extra_content']
  const google = isObject(content) ? content['google'] : undefined
  const signature = isObject(google) ? google['thought_signature'] : undefined
  return isString(signature) && signature !== '' ? signature : undefined
}

/** Google's documented stand-in for calls that another model made (Gemini 3 guide, 2025). */
export const FOREIGN_CALL = 'skip_thought_signature_validator'
