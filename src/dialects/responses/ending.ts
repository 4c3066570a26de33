import type { ErrorType } from '../../core/errors.ts'
import type { FinishReason, JsonObject } from '../../core/events.ts'
import type { Closing, PublicError } from '../../core/result.ts'
import type { ItemStatus } from './output-item.ts'
import type { ResponseStatus } from './response-view.ts'

/** How a response ended: its status, and that of the items that were still open. */
export interface Ending {
  status: Exclude<ResponseStatus, 'in_progress'>
  itemStatus: ItemStatus
  reason?: string
  error?: JsonObject
}

const ENDINGS: Readonly<Record<FinishReason, Ending>> = {
  stop: { status: 'completed', itemStatus: 'completed' },
  tool_calls: { status: 'completed', itemStatus: 'completed' },
  length: { status: 'incomplete', itemStatus: 'incomplete', reason: 'max_output_tokens' },
  content_filter: { status: 'incomplete', itemStatus: 'incomplete', reason: 'content_filter' },
  error: {
    status: 'failed',
    itemStatus: 'incomplete',
    error: { code: 'server_error', message: 'The provider ended the answer with an error' },
  },
}

export const endingOf = ({ finishes }: Closing): Ending =>
  ENDINGS[finishes.find(({ choice }) => choice === 0)?.reason ?? 'stop']

/** The `error` of a failed response, in the codes of this dialect. */
export function viewError({ status, message, metadata }: PublicError): JsonObject {
  const code = status === 429 ? 'rate_limit_exceeded' : status < 500 ? 'invalid_prompt' : 'server_error'
  return { code, message, ...(metadata ? { metadata } : {}) }
}

export function errorTypeOf({ status, metadata }: PublicError): unknown {
  return metadata?.error_type ?? typeOf(status)
}

function typeOf(status: number): ErrorType {
  if (status === 429) return 'rate_limit_exceeded'
  if (status === 408 || status === 504 || status === 524) return 'timeout'
  if (status === 502) return 'provider_unavailable'
  if (status === 503 || status === 529) return 'provider_overloaded'
  return status >= 400 && status < 500 ? 'invalid_request' : 'server'
}
