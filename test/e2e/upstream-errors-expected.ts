import type { ErrorType } from '../../src/core/errors.ts'
import type { DialectName, JsonObject } from '../../src/core/events.ts'

/** The kinds of errors that callers get, and the error bodies of providers. */

export interface Row {
  readonly name: string
  readonly dialect: DialectName
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body: unknown
  /** What callers get. */
  readonly seen: {
    readonly status: number
    readonly type: ErrorType
    /** The provider's code; null: no code, or one that is not passed on. */
    readonly code: string | null
    /** The complete message. */
    readonly says: string
    readonly retryAfter?: string
    /** No other endpoint is tried. */
    readonly isCallers?: true
  }
}

/** The endpoint cannot serve the request: passed on if no other endpoint can. */
export const unsuitable = (status: number, type: ErrorType, code: string | null, says: string) => ({
  status,
  type,
  code,
  says,
})
/** An error of the caller: passed on, and no other endpoint is tried. */
export const caller = (...seen: Parameters<typeof unsuitable>) => ({
  ...unsuitable(...seen),
  isCallers: true as const,
})
/** An error of the gateway or the provider: its text is not passed on, and another endpoint is tried. */
export const refused = { status: 502, type: 'provider_unavailable', code: null } as const
export const says = {
  refused: "Lab rejected this gateway's credential",
  limit: "Lab's rate limit is reached",
  failed: 'Lab answered with an error of its own',
  busy: 'Lab is overloaded',
  empty: "This gateway's account at Lab has no balance left: add credits there",
}
export const credential = { ...refused, says: says.refused }
export const limited = (code: string | null, retryAfter?: string) => ({
  status: 429,
  type: 'rate_limit_exceeded' as const,
  code,
  says: says.limit,
  ...(retryAfter === undefined ? {} : { retryAfter }),
})
export const failed = (code: string | null) => ({ ...refused, code, says: says.failed })
export const busy = (code: string | null) => ({
  status: 529,
  type: 'provider_overloaded' as const,
  code,
  says: says.busy,
})

export const openai = (
  message: string,
  type: string | null,
  code: string | null,
  param: string | null = null,
) => ({
  error: { message, type, param, code },
})
export const google = (code: number, status: string, message: string, details: unknown[] = []) => ({
  error: { code, message, status, details },
})
export const anthropic = (type: string, message: string) => ({
  type: 'error',
  error: { type, message },
  request_id: 'req_011Lab',
})
export const router = (code: number, message: string, metadata: JsonObject) => ({
  error: { code, message, metadata },
  user_id: 'user_lab',
})
