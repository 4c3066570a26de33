import { CallerLeft } from '../abort.ts'
import type { Exchange } from '../exchange.ts'
import { whatToTell } from '../failure.ts'
import type { Metering } from '../meter.ts'
import type { Ticker } from '../ticker.ts'

export interface RelayBytesInput {
  /** Their content is there; what follows may fail. */
  chunks: AsyncIterable<Uint8Array>
  exchange: Exchange<Metering>
  ticker: Ticker
  upstreamAbort: AbortController
  /** Aborts when the caller's connection goes away. */
  callerSignal: AbortSignal
  /** Called once, when nothing of this exchange runs any more. */
  ended(): void
  onLost(error: unknown): void
}

const SLOW_READER_MS = 60_000

/**
 * Bytes as they come, pulled by the caller's connection. The last byte is held back until the settlement is committed;
 * an end that is not whole breaks the connection, so that it never looks finished.
 */
export function relayBytes(input: RelayBytesInput): ReadableStream<Uint8Array> {
  const { exchange, ticker, upstreamAbort, callerSignal } = input
  const iterator = input.chunks[Symbol.asyncIterator]()
  let held: Uint8Array | null = null
  let isOver = false
  let connection: ReadableStreamDefaultController<Uint8Array> | null = null

  const clock = ticker.watch(() => leave(new CallerLeft('the caller reads nothing')))
  const onCallerAbort = () => leave(new CallerLeft())
  callerSignal.addEventListener('abort', onCallerAbort, { once: true })

  function finish(): void {
    isOver = true
    clock.stop()
    callerSignal.removeEventListener('abort', onCallerAbort)
    input.ended()
  }

  function leave(reason: CallerLeft): void {
    if (isOver) return
    isOver = true
    clock.stop()
    // A settlement that is under way stays as it is.
    exchange.settle('left').catch(input.onLost).finally(finish)
    upstreamAbort.abort(reason)
    iterator.return?.().catch(() => undefined)
    connection?.error()
  }

  /** Reads on until something can be sent; false: the end is settled and all was sent. */
  async function sendNext(controller: ReadableStreamDefaultController<Uint8Array>): Promise<boolean> {
    for (;;) {
      const { value, done } = await iterator.next()
      if (done) await exchange.settle('whole')
      if (isOver) return true
      if (held !== null && (done || value.length > 0)) controller.enqueue(held)
      if (done) return false
      if (value.length === 0) continue
      held = value.subarray(-1)
      if (value.length === 1) continue
      controller.enqueue(value.subarray(0, -1))
      return true
    }
  }

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    clock.due = Number.POSITIVE_INFINITY
    try {
      const hasMore = await sendNext(controller)
      if (isOver) return
      if (hasMore) {
        clock.due = ticker.now() + SLOW_READER_MS
        return
      }
      finish()
      controller.close()
    } catch (error) {
      if (isOver) return
      exchange.content?.fail(whatToTell(error, upstreamAbort.signal, exchange.log))
      await exchange.settle('cut').catch(input.onLost)
      finish()
      // Without a reason: Bun prints those it is given.
      controller.error()
    }
  }

  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        connection = controller
      },
      pull,
      cancel: onCallerAbort,
    },
    { highWaterMark: 0 },
  )
}
