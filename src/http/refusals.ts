/** Statuses of refusals, as the API document shows them. */
export type ErrorStatus = 400 | 401 | 402 | 403 | 404 | 408 | 409 | 413 | 429 | 500 | 502 | 503 | 524 | 529

/** What decides with which statuses an operation may refuse. */
export interface Refusing {
  /** `anyone`, `session` or, with a key, undefined. */
  readonly access: unknown
  readonly hasBody: boolean
  readonly hasPathParameter: boolean
  /** Takes an `Idempotency-Key`. */
  readonly isIdempotent: boolean
  /** Reserves money and asks providers. */
  readonly asksProvider: boolean
  /** What this operation adds to the rule. */
  readonly further: readonly number[]
}

/** A malformed Host or parameter, a failure of ours, a gateway that stops or whose disk is full. */
const OF_ALL = [400, 500, 503]
/** No key, the wrong kind of key, a workspace that is not there (`workspace_id`, or the header of a session), too often. */
const OF_CALLERS = [401, 403, 404, 429]
const OF_PROVIDERS = [402, 408, 502, 524, 529]

/** Every status that an operation may refuse with, ascending. Derived: a list by hand forgets some. */
export const refusalsOf = (operation: Refusing): number[] =>
  [
    ...new Set([
      ...OF_ALL,
      ...(operation.access === 'anyone' ? [] : OF_CALLERS),
      ...(operation.hasPathParameter ? [404] : []),
      ...(operation.hasBody ? [413] : []),
      ...(operation.isIdempotent ? [409] : []),
      ...(operation.asksProvider ? OF_PROVIDERS : []),
      ...operation.further,
    ]),
  ].sort((a, b) => a - b)
