/** The life of a response of the Responses API. Every write of a status is held to this table. */

export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled'

const FOLLOWING = {
  queued: ['in_progress', 'failed', 'cancelled'],
  in_progress: ['completed', 'incomplete', 'failed', 'cancelled'],
  completed: [],
  incomplete: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<ResponseStatus, readonly ResponseStatus[]>

export const RESPONSE_STATUSES = Object.keys(FOLLOWING).filter(isResponseStatus)

export function isResponseStatus(value: unknown): value is ResponseStatus {
  return typeof value === 'string' && Object.hasOwn(FOLLOWING, value)
}

export const mayBecome = (from: ResponseStatus, to: ResponseStatus): boolean =>
  FOLLOWING[from].some((status) => status === to)

/** The statuses from which `to` is reached. */
export const statusesBefore = (to: ResponseStatus): ResponseStatus[] =>
  RESPONSE_STATUSES.filter((status) => mayBecome(status, to))

/** Nothing comes after it. */
export const isFinal = (status: ResponseStatus): boolean => FOLLOWING[status].length === 0

/** It has an answer that another turn can be built on. */
export const isAnswered = (status: ResponseStatus): boolean =>
  status === 'completed' || status === 'incomplete'
