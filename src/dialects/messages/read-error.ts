import { UpstreamError } from '../../core/errors.ts'
import { readErrorReply } from '../read-error.ts'

/** Anthropic says with a 400 `invalid_request_error` that the account is out of money: not the caller's doing. */
const NO_CREDIT = /credit balance is too low/i

/** Reads an error reply: `{type: "error", error: {type, message}, request_id}`. */
export function readMessagesError(status: number, headers: Headers, text: string): UpstreamError {
  const error = readErrorReply(status, headers, text)
  if (error.kind !== 'caller' || !NO_CREDIT.test(error.reason)) return error
  return new UpstreamError('credential', error.reason, { status, code: error.code })
}
