/** Error statuses in the API document. */
export type ErrorStatus = 400 | 401 | 402 | 403 | 404 | 408 | 409 | 413 | 429 | 500 | 502 | 503 | 524 | 529

/** The properties of an operation that determine its error statuses. */
export interface Refusing {
  /** `anyone`, `session` or, with a key, undefined. */
  readonly access: unknown
  readonly hasBody: boolean
  readonly hasPathParameter: boolean
  /** Takes an `Idempotency-Key`. */
  readonly isIdempotent: boolean
  /** Reserves money and calls providers. */
  readonly asksProvider: boolean
  /** Further statuses of this operation. */
  readonly further: readonly number[]
}

/** Invalid Host or parameter; internal error; shutdown or full disk. */
const OF_ALL = [400, 500, 503]
/** No valid key; wrong kind of key; unknown workspace; rate limit. */
const OF_CALLERS = [401, 403, 404, 429]
const OF_PROVIDERS = [402, 408, 502, 524, 529]

/** All error statuses of an operation, ascending. */
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
