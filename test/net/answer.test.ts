import { afterEach, describe, expect, test } from 'bun:test'
import { cancellationOf } from '../../src/core/cancellation.ts'
import { UpstreamError } from '../../src/core/errors.ts'
import { createUpstream } from '../../src/net/client.ts'
import { failureOf, outcomeOf, PATIENT, send } from './send.ts'

const upstream = createUpstream()
afterEach(() => expect(upstream.inFlight()).toBe(0))

describe('an answer from inside', () => {
  const streamed = (cancelled: (reason: unknown) => void): Response =>
    new Response(
      new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(Buffer.from('hello')),
        cancel: cancelled,
      }),
    )

  test('is read like any other', async () => {
    const outcome = await outcomeOf(
      send(upstream, 'http://demo.invalid/', {
        answer: async (call) => new Response(`you said ${call.body}`),
      }),
    )
    expect(outcome).toEqual({ status: 200, text: 'you said {}', error: null })
  })

  test('is cut by the clock when it never comes', async () => {
    const timeouts = { ...PATIENT, firstByteMs: 50 }
    const answer = (): Promise<Response> => new Promise(() => undefined)
    expect(await failureOf(send(upstream, 'http://demo.invalid/', { answer, timeouts }))).toMatchObject({
      kind: 'timeout',
    })
  })

  test('is cancelled by a stall, and by leaving', async () => {
    for (const leave of [false, true]) {
      const cancelled = Promise.withResolvers<unknown>()
      const reply = await send(upstream, 'http://demo.invalid/', {
        answer: async () => streamed(cancelled.resolve),
        timeouts: { ...PATIENT, betweenBytesMs: leave ? 10_000 : 50 },
      })
      const reading = async (): Promise<void> => {
        for await (const _ of reply.bytes) if (leave) return
      }
      if (leave) await reading()
      else expect(await failureOf(reading())).toMatchObject({ kind: 'timeout' })
      await cancelled.promise
    }
  })

  test('that comes after the cut is dropped', async () => {
    const controller = new AbortController()
    const cancelled = Promise.withResolvers<unknown>()
    const late = Promise.withResolvers<Response>()
    const failure = failureOf(
      send(upstream, 'http://demo.invalid/', {
        cancellation: cancellationOf(controller.signal),
        answer: () => late.promise,
      }),
    )
    controller.abort(new Error('gone'))
    expect(await failure).toMatchObject({ message: 'gone' })
    late.resolve(streamed(cancelled.resolve))
    await cancelled.promise
  })

  test('that throws is a failure of the attempt', async () => {
    const own = new UpstreamError('overloaded', 'too much')
    const throwing = (error: Error) =>
      send(upstream, 'http://demo.invalid/', { answer: () => Promise.reject(error) })
    expect(await failureOf(throwing(own))).toBe(own)
    expect(await failureOf(throwing(new Error('bug')))).toMatchObject({ kind: 'connect' })
  })
})
