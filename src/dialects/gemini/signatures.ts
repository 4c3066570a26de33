import type { Carrier } from '../../core/carrier.ts'
import type { JsonObject, ReasoningDetail } from '../../core/events.ts'
import { asFilledText, fieldsOf, isObject, isString } from '../../core/json.ts'
import type { Message, ToolCall } from '../../core/request.ts'
import { seal, unseal } from '../opaque.ts'

/**
 * Thought signatures between turns. Gemini puts one beside a functionCall, on a text, or on an empty text at the end.
 * Gemini 3 answers 400 if the signature of a call is missing in the next turn. Callers get them as `reasoning_details`,
 * in OpenRouter's form. A call also carries its own, where Google's OpenAI-compatible API has it, for clients that replay
 * calls and drop details.
 */
const FORMAT = 'google-gemini-v1'

export const thoughtDetail = (text: string): ReasoningDetail => ({
  type: 'reasoning.text',
  text,
  format: FORMAT,
  index: 0,
})

/** `callId`: the call that it belongs to; absent for the signature of a text. */
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
  /** Some details are not Gemini's. */
  readonly hasForeign: boolean
}

/** The signatures and thoughts that an assistant message of a former turn replays. */
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
  const { google } = fieldsOf(extra?.['extra_content'])
  return asFilledText(fieldsOf(google)['thought_signature'])
}

/** Google's documented placeholder for calls of another model (Gemini 3 guide, 2025). */
export const FOREIGN_CALL = 'skip_thought_signature_validator'

/**
 * Reasoning of providers of other dialects, in the one field that Google's clients replay unchanged: the
 * `thoughtSignature` of a part. The field is bytes, which clients decode and encode again in either alphabet of
 * base64, so what the gateway seals is base64 as well.
 */
const PREFIX = 'sluice.'
/** Characters of base64 that hold the prefix. */
const HEAD = 12

/** Details that are too long to be carried are left out. */
export const sealDetails = (details: readonly JsonObject[], carrier: Carrier | undefined): string =>
  signatureOf(seal({ details }, carrier))

/** A sealed text as a signature, and back. */
export const signatureOf = (sealed: string): string => Buffer.from(sealed).toString('base64')
export const innerOf = (signature: string): string => Buffer.from(signature, 'base64').toString()

/** True for signatures of `sealDetails`, which no provider understands. */
export const isSealedSignature = (signature: unknown): signature is string =>
  isString(signature) && Buffer.from(signature.slice(0, HEAD), 'base64').toString('latin1').startsWith(PREFIX)

/** The inverse of `sealDetails`; empty if the client changed the signature. */
export function unsealDetails(signature: string): (JsonObject & { type: string })[] {
  const details = unseal(innerOf(signature))?.details
  return Array.isArray(details) ? details.filter(isDetail) : []
}

const isDetail = (value: unknown): value is JsonObject & { type: string } =>
  isObject(value) && isString(value.type)

/**
 * Joins the pieces of each thought, in one pass: streams split a thought into pieces of one type, id and index, the last
 * of which may have the signature.
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

/** A thought with its signature is complete; encrypted thoughts come in one piece. */
function isOneThought(former: JsonObject, next: JsonObject): boolean {
  if (former.type !== next.type || former.type === 'reasoning.encrypted') return false
  if (isString(former.signature) && former.signature !== '') return false
  const isSame = (name: string): boolean => (former[name] ?? null) === (next[name] ?? null)
  const isOpenFormat = (former.format ?? null) === null || (next.format ?? null) === null
  return isSame('id') && isSame('index') && (isOpenFormat || isSame('format'))
}

const definedOf = (detail: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(detail).filter(([, value]) => value !== null && value !== undefined))
