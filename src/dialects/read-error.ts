import { type ErrorType, UpstreamError, type UpstreamFailure } from '../core/errors.ts'
import type { JsonObject } from '../core/events.ts'
import { asList, asObject, isObject, isString, parseJson, textOf } from '../core/json.ts'
import { retryAfterMs } from '../net/headers.ts'

/** The fields of a provider's error, of any shape. */
interface ReportedError {
  message: string
  /** Every word that names the kind: type, code, status, in lower case. */
  words: string[]
  code: string | null
  /** The HTTP status that the object itself names. */
  status: number | undefined
  retryAfterMs: number | undefined
  isAboutContent: boolean
}

const LONGEST_REASON = 1_000
/** What a message is searched for its kind in; some repeat the prompt. */
const LONGEST_SEARCHED = 64 * 1024

/**
 * Reads an error reply (status ≥ 300) of a provider of any dialect. The content type is not checked: DeepSeek sends
 * JSON as `application/octet-stream`. `reason` is the most useful sentence in it, at most 1,000 characters.
 */
export function readErrorReply(status: number, headers: Headers, text: string): UpstreamError {
  const body = parse(text) ?? fieldsOf(text)
  const reported = body === undefined ? unstructured(text) : readReported(body)
  const isAnswer = body !== undefined || (status !== 404 && status !== 405)
  return toError(reported, status, isAnswer ? undefined : 'server', retryAfterMs(headers))
}

/**
 * An error object inside a 200: an event of a stream, or a complete body. `answered` is the reply's status, used
 * where neither a status nor a known word is in the object.
 */
export function errorInReply(body: unknown, answered: number): UpstreamError {
  const reported = readReported(body)
  const status = reported.status ?? statusOfWords(reported.words)
  if (status !== undefined) return toError(reported, status, undefined, null)
  return toError(reported, answered, reported.isAboutContent ? 'caller' : 'server', null)
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
  forced: UpstreamFailure | undefined,
  headerRetryAfterMs: number | null,
): UpstreamError {
  const kind = forced ?? kindOf(reported, status)
  const errorType = kind === 'caller' ? callerErrorType(reported, status) : undefined
  return new UpstreamError(
    kind,
    reported.message.slice(0, LONGEST_REASON) || `the provider answered ${status}`,
    {
      status,
      code: reported.code,
      ...(errorType ? { errorType } : {}),
      retryAfterMs: headerRetryAfterMs ?? reported.retryAfterMs ?? null,
    },
  )
}

/** Close together, so that a caller's tool of the name `get_api_key` is not taken for our key. */
const BAD_KEY =
  /\b(incorrect|invalid|missing|expired|wrong|no) (x-)?(api[ -]?key|credentials?|authentication|authorization|subscription key|access token)\b|\bapi[ -]?key (provided )?(is |was |has )?(not valid|invalid|incorrect|expired|missing|not found)/i
const OVERLOADED = /overloaded|capacity|high demand|too busy/i

/** xAI and Google answer 400 to a bad key; a moderated prompt is a 403 at OpenRouter, and the caller's doing. */
function kindOf(reported: ReportedError, status: number): UpstreamFailure {
  if (status < 400) return 'connect'
  // The operator's cloud has no such model, or not in that region: another endpoint may. The sentence names accounts.
  if (status === 404 && isAboutOurCloud(reported)) return 'server'
  switch (status) {
    case 401:
    case 402:
      return 'credential'
    case 403:
      return reported.isAboutContent ? 'caller' : 'credential'
    case 408:
    case 409:
      return 'server'
    case 429:
      return 'rate-limit'
    case 498: // Groq: flex capacity exceeded.
    case 529:
      return 'overloaded'
    case 503:
      return OVERLOADED.test(reported.message) || reported.words.some((word) => OVERLOADED.test(word))
        ? 'overloaded'
        : 'server'
  }
  if (status >= 499) return 'server'
  return status === 400 && isAboutOurKey(reported) ? 'credential' : 'caller'
}

/** Azure's word, and how Vertex begins. */
const isAboutOurCloud = ({ message, words }: ReportedError): boolean =>
  words.includes('deploymentnotfound') || /^publisher model\b/i.test(message)

const isAboutOurKey = ({ message, words }: ReportedError): boolean =>
  words.some((word) => /api_key|authentication|unauthorized/.test(word)) || BAD_KEY.test(message)

const TOO_LONG =
  /context[ _](length|window)|maximum context|(prompt|input|request)[^.]{0,40} (is |are )?too long|too many (prompt |input )?tokens|too_many_(prompt_)?tokens|string_above_max_length/i

function callerErrorType(reported: ReportedError, status: number): ErrorType {
  if (reported.isAboutContent) return 'content_policy_violation'
  if (TOO_LONG.test(reported.message) || reported.words.some((word) => TOO_LONG.test(word))) {
    return 'context_length_exceeded'
  }
  if (status === 404) return 'not_found'
  if (status === 413) return 'payload_too_large'
  return status === 422 ? 'unprocessable' : 'invalid_request'
}

/** Errors in a stream often name their kind only in a word. */
const STATUSES: readonly (readonly [RegExp, number])[] = [
  [/rate_?limit|too_many_requests|resource_exhausted|insufficient_quota|throttl/, 429],
  [/overloaded/, 529],
  [/authentication|unauthorized|unauthenticated|invalid_api_key/, 401],
  [/billing|payment|insufficient_(credits|balance|funds)/, 402],
  [/permission|forbidden/, 403],
  [/not_found/, 404],
  [/too_large/, 413],
  [
    /invalid_request|invalid_argument|bad_?request|context_length|content_(filter|policy)|tool_use_failed/,
    400,
  ],
  [/timeout|deadline/, 504],
  [/unavailable/, 503],
  [/server_error|api_error|internal|upstream/, 500],
]

function statusOfWords(words: readonly string[]): number | undefined {
  for (const [pattern, status] of STATUSES) if (words.some((word) => pattern.test(word))) return status
  return undefined
}

/** The shapes: transcripts of OpenAI, Anthropic, Azure, Google, Mistral, xAI, Cohere, Perplexity, OpenRouter, Voyage (2025-26). */
function readReported(body: unknown): ReportedError {
  const first = Array.isArray(body) ? body[0] : body
  if (!isObject(first)) return unstructured(textOf(first))
  const inner = first['error'] ?? first['errors']
  const listed = Array.isArray(inner) ? inner[0] : inner
  const error = asObject(listed) ?? first
  const names = [error['type'], error['code'], error['status'], first['code'], first['error_type']]
  const code = codeOf([error['code'], error['type'], error['status'], first['code'], first['error_type']])
  const words = names.filter(isString).map((name) => name.toLowerCase())
  return {
    message: (isString(listed) ? listed : messageOf(error)).trim().slice(0, LONGEST_SEARCHED),
    words,
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
      words.some((word) => /content_(filter|policy)|moderation|safety/.test(word)) ||
      hasModeration(error['metadata']) ||
      isObject(error['innererror']),
  }
}

const hasModeration = (metadata: unknown): boolean =>
  isObject(metadata) && (Array.isArray(metadata['reasons']) || isString(metadata['flagged_input']))

/** OpenRouter wraps: the useful reason is in `metadata.raw`, as text or as the provider's JSON. */
function messageOf(error: JsonObject): string {
  const { metadata, message, detail } = error
  const raw = asObject(metadata)?.['raw']
  if (isString(raw) && raw.trim() !== '') {
    const inner = parse(raw)
    return (inner === undefined ? undefined : readReported(inner).message) || raw
  }
  if (isString(message)) return message
  if (isString(detail)) return detail
  if (Array.isArray(detail)) return detail.map(detailText).filter(Boolean).join('; ')
  return textOf(error['msg'])
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
function fieldsOf(text: string): JsonObject | undefined {
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
