import { expect, test } from 'bun:test'
import type { Attempt } from '../../src/core/attempt.ts'
import type { JsonObject } from '../../src/core/events.ts'
import type { InferenceRequest } from '../../src/core/request.ts'
import type { EndpointRecord } from '../../src/core/snapshot.ts'
import { chatIngress } from '../../src/dialects/chat/index.ts'

/** Chat requests as a dialect sends them to providers. */

export const HELLO = [{ role: 'user', content: 'Hello' }]

/** Parameters of chat that the dialects of Messages and Responses do not have. */
export const CHAT_ONLY = {
  min_p: 0.1,
  top_a: 0.1,
  frequency_penalty: 1,
  presence_penalty: 1,
  repetition_penalty: 1.1,
  seed: 1,
  logit_bias: { '1': 1 },
  n: 2,
  modalities: ['text', 'image'],
  prediction: { type: 'content', content: 'x' },
}

/** The fields that a request adds to the smallest body, and the names of dropped ones. */
export type Row = [what: string, fields: JsonObject, body: JsonObject, dropped?: string[], attempt?: Attempt]

/** The same for tables with names, by what the endpoint supports. */
export interface NamedRow {
  name: string
  asked: JsonObject
  facts?: Partial<EndpointRecord>
  /** Over the smallest body. */
  sent?: JsonObject
  dropped?: string[]
}

/** `smallest`: the body of a request with `HELLO` alone, without its model. */
export function buildTable<Call extends { body: unknown; dropped: readonly string[] }>(
  build: (request: InferenceRequest, attempt: Attempt) => Call,
  attemptOf: () => Attempt,
  smallest: JsonObject,
) {
  const built = (fields: JsonObject, attempt: Attempt = attemptOf()): Call =>
    build(chatIngress.parse({ model: 'lab/model', messages: HELLO, ...fields }, new Headers()), attempt)
  const table = (rows: Row[]): void => {
    test.each(rows.map((row) => [row[0], row] as const))(
      '%s',
      (_, [, fields, body, dropped = [], attempt = attemptOf()]) => {
        const call = built(fields, attempt)
        expect<unknown>(call.body).toEqual({ model: attempt.endpoint.upstreamId, ...smallest, ...body })
        expect([...call.dropped].sort()).toEqual([...dropped].sort())
      },
    )
  }
  return { built, table }
}
