import type { UpstreamCall } from '../../src/core/attempt.ts'
import { newCancellation } from '../../src/core/cancellation.ts'
import type { UpstreamReply } from '../../src/core/reply.ts'
import type { Timeouts } from '../../src/core/snapshot.ts'
import type { SendOptions, Upstream } from '../../src/net/upstream.ts'

export const PATIENT: Timeouts = { firstByteMs: 10_000, betweenBytesMs: 10_000, totalMs: 20_000 }

export const post = (url: string, body = '{}'): UpstreamCall => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json', authorization: 'Bearer test' },
  body,
})

/** Sends with long limits and many places, unless options override them. */
export const send = (
  upstream: Upstream,
  url: string,
  options: Partial<SendOptions> = {},
): Promise<UpstreamReply> =>
  upstream.send(post(url), {
    group: 'lab',
    maxInFlight: 1000,
    timeouts: PATIENT,
    cancellation: newCancellation(),
    ...options,
  })

/** What was read of a body, and what ended it: null for a clean end. */
export interface Outcome {
  status: number | null
  text: string
  error: unknown
}

/** Reads one call to its end, whatever that is. */
export async function outcomeOf(call: Promise<UpstreamReply>): Promise<Outcome> {
  const decoder = new TextDecoder()
  const outcome: Outcome = { status: null, text: '', error: null }
  try {
    const reply = await call
    outcome.status = reply.status
    for await (const bytes of reply.bytes) outcome.text += decoder.decode(bytes, { stream: true })
  } catch (error) {
    outcome.error = error
  }
  return outcome
}

/** What a rejected promise threw; fails for one that was kept. */
export const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => Promise.reject(new Error('nothing was thrown')),
    (error: unknown) => error,
  )
