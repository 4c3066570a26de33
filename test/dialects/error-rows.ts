import { expect, test } from 'bun:test'
import type { ErrorType, UpstreamFailure } from '../../src/core/errors.ts'
import { readErrorReply } from '../../src/dialects/read-error.ts'

/** An error reply of a provider, and the error that the gateway must read from it. */
export interface ErrorRow {
  name: string
  status: number
  body: unknown
  kind: UpstreamFailure
  reason: string
  code?: string | null
  errorType?: ErrorType
  retryAfterMs?: number
  headers?: Record<string, string>
}

/** An error body as OpenAI writes it. */
export const openai = (message: string, type: string | null, code: string | null = null) => ({
  error: { message, type, param: null, code },
})

export function testErrors(rows: readonly ErrorRow[]): void {
  test.each(rows.map((row) => [row.name, row] as const))('%s', (_, row) => {
    const text = typeof row.body === 'string' ? row.body : JSON.stringify(row.body)
    const error = readErrorReply(row.status, new Headers(row.headers), text)
    expect({
      kind: error.kind,
      status: error.status,
      reason: error.reason,
      code: error.code,
      errorType: error.errorType,
      retryAfterMs: error.retryAfterMs,
    }).toEqual({
      kind: row.kind,
      status: row.status,
      reason: row.reason,
      code: row.code ?? null,
      errorType: row.errorType,
      retryAfterMs: row.retryAfterMs ?? null,
    })
  })
}
