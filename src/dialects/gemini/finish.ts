import { UpstreamError } from '../../core/errors.ts'
import type { FinishReason } from '../../core/events.ts'
import { isString } from '../../core/json.ts'

/**
 * Google's words. `error`: what the model wrote is no answer. OTHER, LANGUAGE and words of tomorrow are ends all the
 * same. STOP stands for tool calls too.
 */
const REASONS: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  MODEL_ARMOR: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
  MALFORMED_FUNCTION_CALL: 'error',
  UNEXPECTED_TOOL_CALL: 'error',
  TOO_MANY_TOOL_CALLS: 'error',
  MALFORMED_RESPONSE: 'error',
  MISSING_THOUGHT_SIGNATURE: 'error',
}

/** Vertex clients that write enums as numbers (`finishReason: 1`, recorded 2025). */
const NUMBERED = [
  'FINISH_REASON_UNSPECIFIED',
  'STOP',
  'MAX_TOKENS',
  'SAFETY',
  'RECITATION',
  'OTHER',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MALFORMED_FUNCTION_CALL',
  'MODEL_ARMOR',
] as const

/** The word of a candidate's `finishReason`; null where it has not ended. */
export function nativeReasonOf(raw: unknown): string | null {
  const word = typeof raw === 'number' ? NUMBERED[raw] : raw
  return isString(word) && word !== '' && word !== 'FINISH_REASON_UNSPECIFIED' ? word : null
}

export function finishReasonOf(native: string | null, hasCalls: boolean): FinishReason {
  const reason =
    native !== null && Object.hasOwn(REASONS, native) ? (REASONS[native] ?? 'stop') : ('stop' as const)
  return reason === 'stop' && hasCalls ? 'tool_calls' : reason
}

/** A reason that says that there is no answer; null for all others. */
export function brokenOff(native: string, finishMessage: unknown, status: number): UpstreamError | null {
  if (finishReasonOf(native, false) !== 'error') return null
  const said =
    isString(finishMessage) && finishMessage !== '' ? finishMessage : 'the model broke its answer off'
  return new UpstreamError('malformed', said.slice(0, 1_000), { status, code: native })
}

/** Our words in Google's; `native` where it is one of Google's own. Calls have no word of their own. */
export function googleReasonOf(reason: FinishReason, native: string | null): string {
  if (native !== null && Object.hasOwn(REASONS, native) && REASONS[native] !== 'error') return native
  return GOOGLES[reason]
}

const GOOGLES: Readonly<Record<FinishReason, string>> = {
  stop: 'STOP',
  tool_calls: 'STOP',
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
  error: 'OTHER',
}
