import { expect, test } from 'bun:test'
import { GatewayError } from '../../src/core/errors.ts'
import { failureIdEvent, refuseResumption } from '../../src/dialects/failed-stream.ts'

const idOf = (message: string, status = 502): string =>
  failureIdEvent({ status, message }).slice('id: '.length).trimEnd()

function refusalOf(id: string | null): GatewayError | null {
  try {
    refuseResumption(new Headers(id === null ? {} : { 'last-event-id': id }))
    return null
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
}

test('the id of a failed stream is one short line of ASCII, for any message', () => {
  for (const message of ['', 'It broke off', '\r\ndata: [DONE]\n\n\u0000', '\ud800', 'ü€😀'.repeat(10_000)]) {
    const event = failureIdEvent({ status: 502, message })
    expect(event).toMatch(/^id: failed\.[\w-]{1,2048}\n\n$/)
  }
})

test('a request that returns the id is rejected with the same error', () => {
  const refusal = refusalOf(idOf('It broke off', 524))
  expect(refusal?.status).toBe(400)
  expect(refusal?.message).toContain('Last-Event-ID')
  expect(refusal?.message).toContain('524: It broke off')
})

test('any other id is rejected too: no stream can be resumed', () => {
  const ids = ['7', 'failed.', 'failed.###', 'failed.bnVsbA', 'failed.WzFd', `failed.${'A'.repeat(100_000)}`]
  for (const id of ids) {
    expect(refusalOf(id)?.status).toBe(400)
    expect(refusalOf(id)?.message).toContain('cannot be resumed')
  }
})

test('a request without an id, or with an empty one, is a new request', () => {
  expect(refusalOf(null)).toBeNull()
  expect(refusalOf('')).toBeNull()
})
