import type { Ticker } from '../reply/ticker.ts'
import type { EventRange, EventSource } from './event-log.ts'

export interface FollowInput {
  source: EventSource
  /** The number of the last event that the reader has; -1 if none. */
  startingAfter: number
  ticker: Ticker
  /** Aborts when the reader disconnects. */
  signal: AbortSignal
  headers: Record<string, string>
}

const KEEP_ALIVE = ': SLUICE PROCESSING\n\n'
const KEEP_ALIVE_MS = 5_000
const SLOW_READER_MS = 60_000
const DONE = 'data: [DONE]\n\n'

/** Streams events to one reader with backpressure. Unread events stay in the source. */
export function follow({ source, startingAfter, ticker, signal, headers }: FollowInput): Response {
  const encoder = new TextEncoder()
  let last = startingAfter
  let isOver = false
  let isWaiting = false
  let connection: ReadableStreamDefaultController<Uint8Array> | null = null

  function over(): void {
    isOver = true
    clock.stop()
    signal.removeEventListener('abort', leave)
  }
  function leave(): void {
    if (isOver) return
    over()
    connection?.error(new Error('the client disconnected'))
  }
  const clock = ticker.watch(() => {
    if (!isWaiting) return leave()
    connection?.enqueue(encoder.encode(KEEP_ALIVE))
    clock.due = ticker.now() + KEEP_ALIVE_MS
  })

  /** Sends the next range of events, or the end. */
  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    isWaiting = true
    clock.due = ticker.now() + KEEP_ALIVE_MS
    let range: EventRange | null
    try {
      range = await source.after(last)
    } catch (error) {
      over()
      throw error
    }
    if (isOver) return
    if (range === null) {
      over()
      controller.enqueue(encoder.encode(DONE))
      return controller.close()
    }
    last = range.last
    controller.enqueue(encoder.encode(range.text))
    isWaiting = false
    clock.due = ticker.now() + SLOW_READER_MS
  }

  signal.addEventListener('abort', leave, { once: true })
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        connection = controller
        // The next event may take long. The first byte shows the reader that it is connected.
        controller.enqueue(encoder.encode(KEEP_ALIVE))
      },
      pull,
      cancel: over,
    },
    { highWaterMark: 0 },
  )
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      ...headers,
    },
  })
}
