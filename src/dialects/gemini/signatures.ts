import type { Carrier } from '../../core/carrier.ts'
import type { JsonObject, ReasoningDetail } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import type { Message, ToolCall } from '../../core/request.ts'
import { seal, unseal } from '../opaque.ts'

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

/**
 * Reasoning of providers of other dialects, in the one field that Google's clients replay unchanged: the
 * `thoughtSignature` of a part. The field is bytes, which clients decode and encode again in either alphabet of
 * base64, so what the gateway seals is base64 as well.
 */
const MARK = 'sluice.'
/** As many characters of base64 as hold the mark. */
const HEAD = 12

/** Details that are too long to be carried are sealed as none. */
export const sealDetails = (details: readonly JsonObject[], carrier: Carrier | undefined): string =>
  signatureOf(seal({ details }, carrier))

/** What is sealed, as a signature, and back. */
export const signatureOf = (sealed: string): string => Buffer.from(sealed).toString('base64')
export const innerOf = (signature: string): string => Buffer.from(signature, 'base64').toString()

/** True for signatures of `sealDetails`: they mean nothing to a provider. */
export const isSealedSignature = (signature: unknown): signature is string =>
  isString(signature) && Buffer.from(signature.slice(0, HEAD), 'base64').toString('latin1').startsWith(MARK)

/** The inverse of `sealDetails`; empty where the client changed it. */
export function unsealDetails(signature: string): (JsonObject & { type: string })[] {
  const details = unseal(innerOf(signature))?.details
  return Array.isArray(details) ? details.filter(isDetail) : []
}

const isDetail = (value: unknown): value is JsonObject & { type: string } =>
  isObject(value) && isString(value.type)

/**
 * Details with pieces of one thought joined: streams tell a thought in many pieces of one type, id and index, of which
 * the last may bring the signature. One pass.
 */
export function joinedDetails(details: readonly JsonObject[]): JsonObject[] {
  const joined: { detail: JsonObject; pieces: string[]; field: string | null }[] = []
  for (const detail of details) {
    const field = FIELDS.find((name) => isString(detail[name])) ?? null
    const last = joined.at(-1)
    if (last && isOneThought(last.detail, detail)) {
      if (field !== null) last.pieces.push(String(detail[field]))
      last.field ??= field
      last.detail = { ...last.detail, ...definedOf(detail) }
    } else joined.push({ detail, pieces: field === null ? [] : [String(detail[field])], field })
  }
  return joined.map(({ detail, pieces, field }) =>
    field === null ? detail : { ...detail, [field]: pieces.join('') },
  )
}

const FIELDS = ['text', 'summary']

/** A thought with its signature is whole; what is encrypted comes in one piece. */
function isOneThought(former: JsonObject, next: JsonObject): boolean {
  if (former.type !== next.type || former.type === 'reasoning.encrypted') return false
  if (isString(former.signature) && former.signature !== '') return false
  const isSame = (name: string): boolean => (former[name] ?? null) === (next[name] ?? null)
  const isOpenFormat = (former.format ?? null) === null || (next.format ?? null) === null
  return isSame('id') && isSame('index') && (isOpenFormat || isSame('format'))
}

const definedOf = (detail: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(detail).filter(([, value]) => value !== null && value !== undefined))
