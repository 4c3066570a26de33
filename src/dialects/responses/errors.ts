import { UpstreamError } from '../../core/errors.ts'
import { isObject, isString } from '../../core/json.ts'
import { errorInReply } from '../read-error.ts'

export { readErrorReply as readResponsesError } from '../read-error.ts'

/** Codes of a failed response for a prompt against the provider's rules (openai-node, 2026). */
const ABOUT_CONTENT = /^invalid_prompt$|policy/
/** Codes for faults of the request: its images, its files. */
const ABOUT_THE_REQUEST =
  /image|^empty_|^unsupported_|^invalid_|^failed_to_download|not_found$|too_(large|small|long)/

/**
 * The error of an `error` event or of a failed response. `answered` is the status of the reply. The codes
 * of failed responses name no HTTP status, so those that blame the request are listed here.
 */
export function failureOf(error: unknown, answered: number): UpstreamError {
  if (!isObject(error)) {
    return new UpstreamError('server', 'the provider reports a failed response', { status: answered })
  }
  const { code, message } = error
  if (!isString(code) || !isString(message)) return errorInReply(error, answered)
  if (ABOUT_CONTENT.test(code)) {
    return new UpstreamError('caller', message, {
      status: 400,
      code,
      errorType: 'content_policy_violation',
    })
  }
  const known = errorInReply({ error }, answered)
  if (known.kind !== 'server' || known.status !== answered || !ABOUT_THE_REQUEST.test(code)) return known
  return new UpstreamError('caller', message, { status: 400, code, errorType: 'invalid_request' })
}
