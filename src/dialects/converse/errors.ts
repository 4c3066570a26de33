import { UpstreamError, type UpstreamFailure } from '../../core/errors.ts'
import { asText, fieldsOf, isObject, isString, parseJson } from '../../core/json.ts'
import { isErrorBody, readErrorReply } from '../read-error.ts'

/**
 * AWS identifies an error by its type alone, in a header, in `__type` or in an event's header; the body is `{message}`.
 * From the API's reference (2026) and recordings of rejected signatures (2025). The case of names is ignored: those of
 * events begin with a lower-case letter. Null: the message decides (`refusals.ts`).
 */
const KINDS: Readonly<Record<string, readonly [kind: UpstreamFailure | null, status: number]>> = {
  accessdeniedexception: [null, 403],
  unrecognizedclientexception: ['credential', 403],
  invalidsignatureexception: ['credential', 403],
  incompletesignatureexception: ['credential', 403],
  missingauthenticationtokenexception: ['credential', 403],
  expiredtokenexception: ['credential', 403],
  validationexception: [null, 400],
  resourcenotfoundexception: [null, 404],
  throttlingexception: ['rate-limit', 429],
  servicequotaexceededexception: ['rate-limit', 429],
  modelnotreadyexception: ['overloaded', 429],
  serviceunavailableexception: ['server', 503],
  modeltimeoutexception: ['timeout', 408],
  modelerrorexception: ['server', 424],
  modelstreamerrorexception: ['server', 424],
  internalserverexception: ['server', 500],
  internalfailure: ['server', 500],
}

const BUSY = /too many|capacity|high demand|overloaded|busy/i

/** Reads an error reply. The status is the reply's own, whatever the usual status of its type. */
export function readConverseError(status: number, headers: Headers, text: string): UpstreamError {
  const error = readErrorReply(status, headers, text)
  const type = typeIn(headers.get('x-amzn-errortype') ?? '') || typeIn(typeInBody(text))
  if (type === '') return error
  return typed(type, error, status)
}

/** Reads an exception in a stream: `{type, message, originalStatusCode?}`, after a 200. */
export function readException(fields: unknown): UpstreamError {
  const type = isObject(fields) && isString(fields['type']) ? typeIn(fields['type']) : ''
  const [, status = 500] = KINDS[type.toLowerCase()] ?? []
  return typed(type, readErrorReply(status, new Headers(), JSON.stringify(fields)), status)
}

/** True for a 200 with an error body. */
export const isException = (body: unknown): boolean =>
  isErrorBody(body) || (isObject(body) && isString(body['__type']))

function typed(type: string, error: UpstreamError, status: number): UpstreamError {
  const kind = KINDS[type.toLowerCase()]?.[0] ?? error.kind
  const isBusy = kind === 'server' && status === 503 && BUSY.test(error.reason)
  return new UpstreamError(isBusy ? 'overloaded' : kind, error.reason, {
    status,
    code: type || null,
    ...(kind === error.kind && error.errorType ? { errorType: error.errorType } : {}),
    retryAfterMs: error.retryAfterMs,
  })
}

/** `ThrottlingException:http://internal.amazon.com/…` and `com.amazon.coral.service#AccessDeniedException`. */
function typeIn(name: string): string {
  const [type = ''] = name.slice(name.indexOf('#') + 1).split(':')
  return /^\w{1,100}$/.test(type) ? type : ''
}

const typeInBody = (text: string): string => asText(fieldsOf(parseJson(text))['__type']) ?? ''
