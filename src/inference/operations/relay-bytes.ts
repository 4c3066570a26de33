import { cancel } from '../../core/cancellation.ts'
import type { Generation } from '../generation.ts'
import { end } from '../pipeline.ts'
import { settle } from '../settle.ts'
import { CallerDisconnected, onDisconnect } from '../upstream/abort.ts'
import { errorForCaller } from '../upstream/failure.ts'

const SLOW_READER_MS = 60_000

/**
 * Streams bytes with backpressure. The last byte is held until the settlement is committed. A truncated reply closes the
 * connection, so that it never looks complete.
 */
export function relayBytes(
  generation: Generation,
  chunks: AsyncIterable<Uint8Array>,
): ReadableStream<Uint8Array> {
  const { cancellation, id, content, deps } = generation
  const iterator = chunks[Symbol.asyncIterator]()
  let held: Uint8Array | null = null
  let isOver = false
  let connection: ReadableStreamDefaultController<Uint8Array> | null = null
  const lost = (error: unknown): void => deps.onLost(error, id)
  const clock = deps.ticker.watch(() => leave(new CallerDisconnected('the client stopped reading')))

  function finish(): void {
    isOver = true
    clock.stop()
    end(generation)
  }

  function leave(reason: CallerDisconnected): void {
    if (isOver) return
    isOver = true
    clock.stop()
    // Has no effect on a settlement that has started.
    settle(generation, 'disconnected').catch(lost).finally(finish)
    cancel(cancellation, reason)
    iterator.return?.().catch(() => undefined)
    connection?.error()
  }

  /** Reads until bytes can be sent. False: everything is settled and sent. */
  async function sendNext(controller: ReadableStreamDefaultController<Uint8Array>): Promise<boolean> {
    for (;;) {
      const { value, done } = await iterator.next()
      if (done) await settle(generation, 'complete')
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
      if (hasMore) clock.due = deps.ticker.now() + SLOW_READER_MS
      else {
        finish()
        controller.close()
      }
    } catch (error) {
      if (isOver) return
      content?.fail(errorForCaller(error, generation))
      await settle(generation, 'truncated').catch(lost)
      finish()
      // No reason, because Bun prints it.
      controller.error()
    }
  }

  onDisconnect(cancellation, leave)
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        connection = controller
      },
      pull,
      cancel: () => leave(new CallerDisconnected()),
    },
    { highWaterMark: 0 },
  )
}
