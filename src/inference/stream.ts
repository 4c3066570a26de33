import { turnOfLoop } from '../core/turn.ts'
import type { Ingress } from '../dialects/dialect.ts'
import { type DirectWriter, directStream } from '../http/direct-stream.ts'
import { CallerLeft } from './abort.ts'
import { end } from './pipeline.ts'
import { streamHeaders } from './reply-headers.ts'
import { fail } from './settle.ts'
import type { TextStream } from './text-stream.ts'
import { TIMED_OUT } from './ticker.ts'

/** Silence that is kept before a stream commits to 200: an earlier failure keeps a status of its own. */
export const SILENCE_MS = 5_000
const KEEP_ALIVE_MS = 5_000
const SLOW_READER_MS = 60_000
/** After so much text the event loop gets a turn, so that one stream of large frames does not hold up the others. */
const BURST_CHARACTERS = 64 * 1024

/** How a stream is sent by default: a comment keeps proxies and the caller's own clock quiet, and clients skip it. */
const EVENTS: NonNullable<Ingress['stream']> = {
  mediaType: 'text/event-stream',
  keepAlive: ': SLUICE PROCESSING\n\n',
}

/**
 * Sends a streamed reply to its caller, who slows the provider by reading slowly. Rejects, before anything was sent,
 * with the error that the caller gets.
 */
export async function streamResponse(
  stream: TextStream,
  form: Ingress['stream'] = EVENTS,
): Promise<Response> {
  const { generation, starting } = stream
  const { ticker } = generation.deps
  let isLate = false
  try {
    isLate = (await ticker.within(starting, SILENCE_MS)) === TIMED_OUT
  } catch (error) {
    const failure = await fail(generation, error)
    end(generation)
    throw failure
  }
  const body = directStream(
    (writer) => send(stream, writer, form.keepAlive, isLate),
    () => stream.leave(new CallerLeft()),
  )
  return new Response(body, { headers: streamHeaders(generation, form.mediaType) })
}

/** Writes the stream to its connection. Rejects, which breaks the connection, where the caller reads nothing. */
async function send(
  stream: TextStream,
  writer: DirectWriter,
  keepAlive: string,
  isLate: boolean,
): Promise<void> {
  const { ticker } = stream.generation.deps
  let isFull = false
  const stuck = Promise.withResolvers<void>()
  /** Nothing came for a while, from the provider or from the caller. */
  const clock = ticker.watch(() => {
    if (isFull) {
      stream.leave(new CallerLeft('the caller reads nothing'))
      return stuck.reject()
    }
    writer.write(keepAlive)
    writer.flush()
    clock.due = ticker.now() + KEEP_ALIVE_MS
  })
  const write = (text: string): Promise<unknown> | undefined => {
    const writing = writer.write(text)
    writer.flush()
    if (!(writing instanceof Promise)) return undefined
    isFull = true
    clock.due = ticker.now() + SLOW_READER_MS
    return Promise.race([writing, stuck.promise])
  }
  try {
    if (isLate) await write(keepAlive)
    await writeAll(stream, write, () => {
      isFull = false
      clock.due = ticker.now() + KEEP_ALIVE_MS
    })
    writer.end()
  } finally {
    clock.stop()
  }
}

async function writeAll(
  stream: TextStream,
  write: (text: string) => Promise<unknown> | undefined,
  waitForProvider: () => void,
): Promise<void> {
  let burst = 0
  for (;;) {
    waitForProvider()
    const text = await stream.next()
    if (text === null) return
    const writing = write(text)
    if (writing) await writing
    burst += text.length
    if (burst <= BURST_CHARACTERS) continue
    burst = 0
    await turnOfLoop()
  }
}
