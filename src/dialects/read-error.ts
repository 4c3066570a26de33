import { UpstreamError } from '../core/errors.ts'
import type { JsonObject } from '../core/events.ts'
import { asList, asObject, fieldsOf, isObject, isString, parseJson, textOf } from '../core/json.ts'
import { rateResetMs, retryAfterMs } from '../net/headers.ts'
import { type Refusal, type Reported, refusalOf, statusOfWords } from './refusals.ts'

/** The fields of a provider's error, of any shape. */
interface ReportedError extends Reported {
  code: string | null
  /** The HTTP status that the object itself names. */
  status: number | undefined
  retryAfterMs: number | undefined
}

const LONGEST_REASON = 1_000
/** The part of a message that is searched for its kind: some messages repeat the prompt. */
const LONGEST_SEARCHED = 64 * 1024

/**
 * Reads an error reply (status ≥ 300) of a provider of any dialect. The content type is not checked: DeepSeek sends
 * JSON as `application/octet-stream`. `reason` is the most useful sentence in it, at most 1,000 characters.
 */
export function readErrorReply(status: number, headers: Headers, text: string): UpstreamError {
  const body = parse(text) ?? readTruncated(text)
  const reported = body === undefined ? unstructured(text) : readReported(body)
  // A page instead of an answer: the base URL is wrong, for every request.
  const isNoApi = body === undefined && (status === 404 || status === 405)
  const refusal: Refusal = isNoApi ? { kind: 'server' } : refusalOf(reported, status)
  if (refusal.kind === 'rate-limit' && OF_ALL_MODELS.has(headers.get(CLAIM) ?? '')) refusal.reach = 'account'
  return toError(
    reported,
    status,
    refusal,
    retryAfterMs(headers) ?? reported.retryAfterMs ?? (status === 429 ? rateResetMs(headers) : null),
  )
}

/** Which limit of an account is reached; `seven_day_opus` is a limit of one model (griffinwork40/agent-afk#490). */
const CLAIM = 'anthropic-ratelimit-unified-representative-claim'
const OF_ALL_MODELS = new Set(['five_hour', 'seven_day'])

/** For an error without a status: what its text says counts, but it is not the caller's without a word of it. */
const UNSAID = 400

/**
 * An error object inside a 200: an event of a stream, or a complete body. `answered` is the reply's status, used
 * if neither a status nor a known word is in the object.
 */
export function errorInReply(body: unknown, answered: number): UpstreamError {
  const reported = readReported(body)
  const status = reported.status ?? statusOfWords(reported.words)
  const refusal = refusalOf(reported, status ?? UNSAID)
  if (status !== undefined) return toError(reported, status, refusal, null)
  return toError(reported, answered, refusal.kind === 'caller' ? { kind: 'server' } : refusal, null)
}

/** True for an object that can be nothing but an error: it has one, or it has a reason and no answer. */
export function isErrorBody(body: unknown): boolean {
  if (Array.isArray(body)) return body.length > 0 && isErrorBody(body[0])
  if (!isObject(body)) return false
  const { error } = body
  if (isString(error) ? error !== '' : isObject(error) && Object.keys(error).length > 0) return true
  if (body['object'] === 'error' || body['type'] === 'error') return true
  return (
    body['choices'] === undefined &&
    (isString(body['message']) || isString(body['detail']) || Array.isArray(body['detail']))
  )
}

function toError(
  reported: ReportedError,
  status: number,
  { kind, errorType, reach }: Refusal,
  headerRetryAfterMs: number | null,
): UpstreamError {
  return new UpstreamError(
    kind,
    reported.message.slice(0, LONGEST_REASON) || `the provider answered ${status}`,
    {
      status,
      code: reported.code,
      ...(errorType ? { errorType } : {}),
      reach,
      retryAfterMs: headerRetryAfterMs ?? reported.retryAfterMs ?? null,
    },
  )
}

/** The shapes: transcripts of OpenAI, Anthropic, Azure, Google, Mistral, xAI, Cohere, Perplexity, OpenRouter, Voyage (2025-26). */
function readReported(body: unknown): ReportedError {
  const first = Array.isArray(body) ? body[0] : body
  if (!isObject(first)) return unstructured(textOf(first))
  const inner = first['error'] ?? first['errors']
  const listed = Array.isArray(inner) ? inner[0] : inner
  const error = asObject(listed) ?? first
  const wrapped = wrappedIn(error)
  const names = [error['type'], error['code'], error['status'], first['code'], first['error_type']]
  const code = codeOf([error['code'], ...names])
  const kinds = [...names, fieldsOf(asList(error['detail'])[0])['type']]
  const words = kinds.filter(isString).map((name) => name.toLowerCase())
  return {
    message: (isString(listed) ? listed : wrapped?.message || messageOf(error))
      .trim()
      .slice(0, LONGEST_SEARCHED),
    words: wrapped ? [...words, ...wrapped.words] : words,
    code,
    status: statusOf([
      error['status_code'],
      error['code'],
      error['status'],
      first['status_code'],
      first['code'],
    ]),
    retryAfterMs: retryDelayOf(error),
    isAboutContent:
      hasModeration(error['metadata']) || isObject(error['innererror']) || wrapped?.isAboutContent === true,
  }
}

const hasModeration = (metadata: unknown): boolean =>
  isObject(metadata) && (Array.isArray(metadata['reasons']) || isString(metadata['flagged_input']))

/** OpenRouter wraps: the useful reason is in `metadata.raw`, as text or as the provider's JSON. */
function wrappedIn({ metadata }: JsonObject): ReportedError | undefined {
  const raw = asObject(metadata)?.['raw']
  if (!isString(raw) || raw.trim() === '') return undefined
  const inner = parse(raw)
  const reported = inner === undefined ? unstructured(raw) : readReported(inner)
  return reported.message === '' ? { ...reported, message: raw } : reported
}

function messageOf({ message, detail, msg }: JsonObject): string {
  if (isString(message)) return message
  if (isString(detail)) return detail
  if (Array.isArray(detail)) return detail.map(detailText).filter(Boolean).join('; ')
  return textOf(msg)
}

/** A validation error of FastAPI servers: `{loc: ["body", "messages"], msg}`. */
function detailText(detail: unknown): string {
  if (!isObject(detail) || !isString(detail['msg'])) return ''
  const { loc, msg } = detail
  return Array.isArray(loc) ? `${loc.join('.')}: ${msg}` : msg
}

function codeOf(candidates: readonly unknown[]): string | null {
  const named = candidates.find(
    (each) => isString(each) && /^[\w.:/-]{1,100}$/.test(each) && !/^\d+$/.test(each),
  )
  if (isString(named)) return named
  const numbered = candidates.find(
    (each) => typeof each === 'number' || (isString(each) && /^\d{1,6}$/.test(each)),
  )
  return numbered === undefined ? null : String(numbered)
}

function statusOf(candidates: readonly unknown[]): number | undefined {
  for (const each of candidates) {
    const number = isString(each) && /^\d{3}$/.test(each) ? Number(each) : each
    if (typeof number === 'number' && Number.isInteger(number) && number >= 300 && number <= 599)
      return number
  }
  return undefined
}

/** Google's `RetryInfo`: `retryDelay: "34.4s"`. */
function retryDelayOf(error: JsonObject): number | undefined {
  const details = asList(error['details'])
  for (const detail of details) {
    const match =
      isObject(detail) &&
      isString(detail['retryDelay']) &&
      /^(\d{1,6}(?:\.\d+)?)s$/.exec(detail['retryDelay'])
    if (match) return Math.ceil(Number(match[1]) * 1000)
  }
  return undefined
}

const LOC = /"loc"\s*:\s*(\[[^\]]{0,200}\])/
const FIELD = /"(message|msg|detail|code|type|status)"\s*:\s*"((?:[^"\\]|\\.)*)/g

/** Reads truncated JSON of an error: the first of each of its fields. */
function readTruncated(text: string): JsonObject | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  const fields: JsonObject = {}
  for (const [, name = '', inside = ''] of text.matchAll(FIELD)) {
    fields[name] ??= parseJson(`"${inside}"`) ?? inside
  }
  if (Object.keys(fields).length === 0) return undefined
  const loc = parseJson(LOC.exec(text)?.[1] ?? '')
  return { error: isString(fields['msg']) ? { ...fields, detail: [{ loc, msg: fields['msg'] }] } : fields }
}

/** A page or plain text. Only the title of a page is useful. */
function unstructured(text: string): ReportedError {
  const isPage = /^\s*</.test(text)
  const title = /<title[^<>]{0,200}>([^<]{0,1000})<\/title>/i.exec(text)?.[1]
  const message = isPage ? (title ?? 'a page of HTML') : text
  return {
    message: message.trim().slice(0, 300),
    words: [],
    code: null,
    status: undefined,
    retryAfterMs: undefined,
    isAboutContent: false,
  }
}

function parse(text: string): unknown {
  const value = parseJson(text)
  return typeof value === 'object' && value !== null ? value : undefined
}
