import { expect, test } from 'bun:test'
import type { Attempt } from '../../../src/core/attempt.ts'
import type { JsonObject } from '../../../src/core/events.ts'
import { chatIngress } from '../../../src/dialects/chat/index.ts'
import { responsesEgress } from '../../../src/dialects/responses/index.ts'
import { attemptOf } from './attempt.ts'

/** Requests of other dialects: all that the neutral request can say, and what becomes of it. */

export const HELLO = [{ role: 'user', content: 'Hello' }]

export const built = (fields: JsonObject, attempt: Attempt = attemptOf()) =>
  responsesEgress.build(
    chatIngress.parse({ model: 'lab/model', messages: HELLO, ...fields }, new Headers()),
    attempt,
  )

/** What a field of the request adds to the least body, and what is dropped for it. */
export type Row = [what: string, fields: JsonObject, body: JsonObject, dropped?: string[], attempt?: Attempt]

export function table(rows: Row[]): void {
  test.each(rows.map((row) => [row[0], row] as const))('%s', (_, [, fields, body, dropped, attempt]) => {
    const call = built(fields, attempt)
    const least = { model: attempt?.endpoint.upstreamId ?? 'tide-1', input: HELLO, store: false }
    expect(call.body).toEqual({ ...least, ...body })
    expect([...call.dropped].sort()).toEqual([...(dropped ?? [])].sort())
  })
}

/** Asks for reasoning that can be sent back: on every request to a model that reasons. */
export const ENCRYPTED = { include: ['reasoning.encrypted_content'] }
