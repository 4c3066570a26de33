import { turnOfLoop } from '../../core/turn.ts'
import type { Ingress } from '../../dialects/dialect.ts'
import { type DirectWriter, directStream } from '../../http/direct-stream.ts'
import { textReply } from '../../http/text-reply.ts'
import { end } from '../pipeline.ts'
import { fail } from '../settle.ts'
import { CallerDisconnected } from '../upstream/abort.ts'
import { streamHeaders } from './headers.ts'
import type { TextStream } from './text-stream.ts'
import { TIMED_OUT, type Ticker } from './ticker.ts'

/** How long a stream waits for content before it sends status 200. Earlier failures get their own status. */
const SILENCE_MS = 5_000
const KEEP_ALIVE_MS = 5_000
/** How long after the start of a provider's reply the caller is sent the reply's start, if no content has arrived. */
const BEGUN_MS = 500
const SLOW_READER_MS = 60_000
/** After this much text the event loop gets a turn, so that one stream of large frames does not delay others. */
const BURST_CHARACTERS = 64 * 1024

/** The default framing. The keep-alive is an SSE comment: it prevents timeouts of proxies and callers, and is ignored. */
const EVENTS: NonNullable<Ingress['stream']> = {
  mediaType: 'text/event-stream',
  keepAlive: ': SLUICE PROCESSING\n\n',
}

/**
 * Sends a streamed reply with backpressure: a slow caller slows the provider. Rejects with the caller's error if the reply
 * fails before anything was sent.
 */
export async function streamResponse(
  stream: TextStream,
  form: Ingress['stream'] = EVENTS,
  until = stream.generation.deps.ticker.now() + SILENCE_MS,
): Promise<Response> {
  const { generation } = stream
  let early: string | null
  try {
    early = await untilStarted(stream, form.keepAlive, until)
  } catch (error) {
    const failure = await fail(generation, error)
    end(generation)
    throw failure
  }
  const headers = streamHeaders(generation, form.mediaType)
  const begun = early === null ? await beginning(stream) : { text: early, rest: stream.next() }
  if (begun.rest === null) return textReply(begun.text, headers)
  const body = directStream(
    (writer) => send(stream, begun, writer, form.keepAlive),
    () => stream.leave(new CallerDisconnected()),
  )
  return new Response(body, { headers })
}

/** A reply that is not there yet, because plugins still change its request. */
export interface ComingStream {
  readonly coming: Promise<TextStream>
  readonly ticker: Ticker
  readonly form: Ingress['stream']
  /** Of a reply that starts before its generation. */
  headers(mediaType: string): Record<string, string>
  /** The dialect's error event. */
  failed(error: unknown): string
}

/**
 * As `streamResponse`. If the stream has not come after a silence, the caller is sent status 200 and keep-alives, and a
 * later failure as an error event.
 */
export async function streamOnceComing(late: ComingStream): Promise<Response> {
  const { coming, ticker, form = EVENTS } = late
  const until = ticker.now() + SILENCE_MS
  const stream = await ticker.within(coming, SILENCE_MS)
  if (stream !== TIMED_OUT) return streamResponse(stream, form, until)
  const leave = (): void =>
    void coming.then(
      (begun) => begun.leave(new CallerDisconnected()),
      () => undefined,
    )
  const body = directStream((writer) => sendOnceComing(late, writer, form.keepAlive), leave)
  return new Response(body, { headers: late.headers(form.mediaType) })
}

async function sendOnceComing(
  { coming, ticker, failed }: ComingStream,
  writer: DirectWriter,
  keepAlive: string,
): Promise<void> {
  const show = (text: string): void => {
    writer.write(text)
    writer.flush()
  }
  const clock = ticker.watch(() => {
    show(keepAlive)
    clock.due = ticker.now() + KEEP_ALIVE_MS
  })
  clock.due = ticker.now() + KEEP_ALIVE_MS
  show(keepAlive)
  const stream = await coming
    .catch((error: unknown) => {
      show(failed(error))
      writer.end()
      return null
    })
    .finally(clock.stop)
  if (stream !== null) await send(stream, { text: '', rest: null }, writer, keepAlive)
}

/**
 * Null once the first content has arrived. Else the text to send before it: half a second after the provider's reply
 * started, the start of the reply (fail-over stays possible until its content arrives), or the first keep-alive.
 */
async function untilStarted(stream: TextStream, keepAlive: string, until: number): Promise<string | null> {
  const { generation, starting } = stream
  const { ticker, now } = generation.deps
  const wait = (): number => Math.min(BEGUN_MS, until - ticker.now())
  for (let waitMs = wait(); waitMs > 0; waitMs = wait()) {
    if ((await ticker.within(starting, waitMs)) !== TIMED_OUT) return null
    const { replyStartedAt } = generation
    const text = replyStartedAt !== null && now() - replyStartedAt >= BEGUN_MS ? stream.begin() : ''
    if (text !== '') return text
  }
  return keepAlive
}

/**
 * The available text of a stream, and its next text; null if the reply has ended. Both are released once they are sent: the
 * connection keeps this object, and a stream may stay open for minutes.
 */
interface Beginning {
  text: string
  rest: Promise<string | null> | null
}

function takeText(begun: Beginning): string {
  const { text } = begun
  begun.text = ''
  return text
}

function takeRest(begun: Beginning, stream: TextStream): Promise<string | null> {
  const rest = begun.rest ?? stream.next()
  begun.rest = null
  return rest
}

/**
 * Reads what is available in this turn of the event loop. If the reply has ended, waits for its commit, so that it is sent
 * in one write: opening and closing a stream costs several times as much.
 */
async function beginning(stream: TextStream): Promise<Beginning> {
  let text = ''
  const turn = turnOfLoop()
  for (;;) {
    const rest = stream.next()
    const first = await Promise.race([rest, turn])
    const next = first === undefined && stream.isSettling ? await committed(rest) : first
    if (next === undefined) return { text, rest }
    if (next === null) return { text, rest: null }
    text += next
    if (text.length > BURST_CHARACTERS) return { text, rest: stream.next() }
  }
}

/** The end of the reply; undefined if its commit takes longer than a few milliseconds, so send the available text first. */
const committed = (rest: Promise<string | null>): Promise<string | null | undefined> =>
  Promise.race([rest, new Promise<undefined>((resolve) => setTimeout(resolve, COMMIT_MS))])
const COMMIT_MS = 50

/** Writes the stream to its connection. Rejects, which closes the connection, if the caller stops reading. */
async function send(
  stream: TextStream,
  begun: Beginning,
  writer: DirectWriter,
  keepAlive: string,
): Promise<void> {
  const { ticker } = stream.generation.deps
  /** Abandons a write that waits for a full connection; null if none waits. */
  let giveUp: (() => void) | null = null
  /** Runs after a silence of the provider, or when the caller has not read for too long. */
  const clock = ticker.watch(() => {
    if (giveUp !== null) {
      stream.leave(new CallerDisconnected('the client stopped reading'))
      return giveUp()
    }
    writer.write(keepAlive)
    writer.flush()
    clock.due = ticker.now() + KEEP_ALIVE_MS
  })
  const write = (piece: string): Promise<unknown> | undefined => {
    const writing = writer.write(piece)
    writer.flush()
    if (!(writing instanceof Promise)) return undefined
    const stuck = Promise.withResolvers<never>()
    giveUp = () => stuck.reject()
    clock.due = ticker.now() + SLOW_READER_MS
    return Promise.race([writing, stuck.promise])
  }
  const waitForProvider = (): void => {
    giveUp = null
    clock.due = ticker.now() + KEEP_ALIVE_MS
  }
  try {
    if (begun.text !== '') await write(takeText(begun))
    waitForProvider()
    await writeAll(stream, begun, write, waitForProvider)
    writer.end()
  } finally {
    clock.stop()
  }
}

async function writeAll(
  stream: TextStream,
  begun: Beginning,
  write: (text: string) => Promise<unknown> | undefined,
  waitForProvider: () => void,
): Promise<void> {
  let burst = 0
  for (let text = await takeRest(begun, stream); text !== null; text = await stream.next()) {
    const writing = write(text)
    if (writing) await writing
    waitForProvider()
    burst += text.length
    if (burst <= BURST_CHARACTERS) continue
    burst = 0
    await turnOfLoop()
  }
}
