import { UpstreamError } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import { errorInReply } from '../read-error.ts'

export { readErrorReply as readResponsesError } from '../read-error.ts'

/** The error of an `error` event or of a failed response. `answered` is the status of the reply. */
export const failureOf = (error: unknown, answered: number): UpstreamError =>
  isObject(error)
    ? errorInReply({ error }, answered)
    : new UpstreamError('server', 'the provider reports a failed response', { status: answered })
