/** Statuses of refusals that an operation documents. */
export type ErrorStatus = 400 | 401 | 402 | 403 | 404 | 408 | 409 | 413 | 429 | 500 | 502 | 503 | 524 | 529

export interface Operation {
  /** Unique in the whole document. */
  id: string
  summary: string
  tag: string
  description?: string
  errors: readonly ErrorStatus[]
}

/** What the API document says of a route, as the route's `detail`. Each status of `errors` is shown with the envelope. */
export const operation = ({ id, summary, tag, description, errors }: Operation) => ({
  operationId: id,
  summary,
  tags: [tag],
  ...(description === undefined ? {} : { description }),
  'x-errors': [...errors],
})
