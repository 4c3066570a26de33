import { UpstreamError } from '../core/errors.ts'
import type { UpstreamReply } from '../core/reply.ts'
import { turnOfLoop, turnsByLength } from '../core/turn.ts'
import { plainBody } from './content-coding.ts'
import { awaitBytes, awaitContent, cut, type Exchange, endWithin, finish, receive } from './exchange.ts'
import { connectionFailure } from './upstream.ts'

/** The limit of a buffered reply: 32 MB holds any completion, images in base64 included. */
const DEFAULT_TEXT_LIMIT_BYTES = 32 * 1024 * 1024
/**
 * The engine buffers a body with a `content-length` up to this: a stream would cost as much as the call itself. Such a
 * body arrives almost at once, so the clock between bytes runs once, from its head to its end.
 */
const SHORT_BODY_BYTES = 256 * 1024

/** Bytes that have arrived are read without a turn of the event loop; after this many, other requests get one. */
const TURN_BYTES = 512 * 1024

const END: IteratorReturnResult<undefined> = { done: true, value: undefined }
const decoder = new TextDecoder()

/**
 * The reply of an exchange. It occupies its bulkhead place until the body is read to the end or cancelled. Bytes that arrive
 * together with a connection failure may be lost (Bun 1.4.5 drops its buffer when a `fetch` fails); such a body still
 * throws and never looks complete.
 */
export function replyOf(exchange: Exchange, response: Response, isFetched: boolean): UpstreamReply {
  const { status, headers } = response
  const length = headers.get('content-length')
  // `response.body` makes the engine create a stream, so it is read only if it may be null or is used.
  const isEmpty = (status === 204 || length === null || length === '0') && response.body === null
  if (isEmpty) finish(exchange)
  return {
    status,
    headers,
    bytes: {
      [Symbol.asyncIterator]() {
        const body = isEmpty ? null : plainBody(response)
        return body === null ? NOTHING : pull(exchange, body)
      },
    },
    async text(limitBytes = DEFAULT_TEXT_LIMIT_BYTES) {
      if (isEmpty) return ''
      const announced = length === null ? Number.POSITIVE_INFINITY : Number(length)
      if (length !== null && announced > limitBytes) throw tooLarge(exchange, limitBytes)
      if (isFetched && announced <= SHORT_BODY_BYTES && isAsAnnounced(headers))
        return shortText(exchange, response)
      const body = plainBody(response)
      return body === null ? '' : readText(exchange, body, limitBytes)
    },
    async beginning(limitBytes, ms) {
      const body = isEmpty ? null : plainBody(response)
      if (body === null) return ''
      endWithin(exchange, ms)
      return readBeginning(exchange, body, limitBytes)
    },
    awaitContent: () => awaitContent(exchange),
  }
}

/** False for compressed or chunked bodies, whose `content-length` means something else. */
const isAsAnnounced = (headers: Headers): boolean =>
  headers.get('content-encoding') === null && headers.get('transfer-encoding') === null

async function shortText(exchange: Exchange, response: Response): Promise<string> {
  if (response.bodyUsed) throw new TypeError('The body of a reply is read once')
  try {
    if (exchange.failure === null) {
      receive(exchange)
      awaitBytes(exchange)
    }
    const text = await response.text()
    if (exchange.failure !== null) throw exchange.failure.error
    finish(exchange)
    return text
  } catch (error) {
    throw brokenBy(exchange, error)
  }
}

const NOTHING: AsyncIterator<Uint8Array> = { next: () => Promise.resolve(END) }

/**
 * A body may be iterated once. Written by hand, because it runs for every chunk of every stream: a generator
 * costs two more promises a chunk.
 */
function pull(exchange: Exchange, body: ReadableStream<Uint8Array>): AsyncIterator<Uint8Array> {
  const reader = body.getReader()
  exchange.reader = reader

  const received = (result: IteratorResult<Uint8Array, undefined>) => {
    // Checked first: a cancelled reader returns `done`, and a truncated body must never look complete.
    if (exchange.failure !== null) throw exchange.failure.error
    if (result.done) finish(exchange)
    else receive(exchange, result.value.byteLength)
    return result
  }
  const broken = (error: unknown): never => {
    throw brokenBy(exchange, error)
  }
  return {
    next() {
      if (exchange.failure !== null) return Promise.reject(exchange.failure.error)
      if (!exchange.isOpen) return Promise.resolve(END)
      awaitBytes(exchange)
      return reader.read().then(received, broken)
    },
    return() {
      cut(exchange, new DOMException('The reader stopped before the end of the reply', 'AbortError'))
      return Promise.resolve(END)
    },
  }
}

/** Repeats the rules of `pull` without an iterator's promises, for the hot unary path. */
async function readText(
  exchange: Exchange,
  body: ReadableStream<Uint8Array>,
  limitBytes: number,
): Promise<string> {
  const reader = body.getReader()
  exchange.reader = reader
  const parts: Uint8Array[] = []
  let size = 0
  // Servers of JSON replies send blank lines as keep-alives.
  const advance = awaitContent(exchange)
  const turnAfter = turnsByLength(TURN_BYTES)
  let isBegun = false
  try {
    for (;;) {
      if (exchange.failure === null) awaitBytes(exchange)
      const { done, value } = await reader.read()
      if (exchange.failure !== null) throw exchange.failure.error
      if (done) break
      receive(exchange, value.byteLength)
      if (!isBegun && value.some(isVisible)) {
        isBegun = true
        advance()
      }
      size += value.byteLength
      if (size > limitBytes) throw tooLarge(exchange, limitBytes)
      parts.push(value)
      const turn = turnAfter(value.byteLength)
      if (turn) await turn
    }
  } catch (error) {
    throw brokenBy(exchange, error)
  }
  finish(exchange)
  if (size > TURN_BYTES) return decodedInSteps(parts)
  const [only] = parts
  return decoder.decode(only !== undefined && parts.length === 1 ? only : Buffer.concat(parts, size))
}

/** To join and decode 30 MB at once would hold the thread for 50 ms. */
async function decodedInSteps(parts: readonly Uint8Array[]): Promise<string> {
  const steps = new TextDecoder()
  const texts: string[] = []
  const turnAfter = turnsByLength(TURN_BYTES)
  for (const part of parts) {
    texts.push(steps.decode(part, { stream: true }))
    const turn = turnAfter(part.byteLength)
    if (turn) await turn
  }
  texts.push(steps.decode())
  await turnOfLoop()
  const text = texts.join('')
  await turnOfLoop()
  return text
}

/** The first bytes of a body, even if the body fails later. */
async function readBeginning(
  exchange: Exchange,
  body: ReadableStream<Uint8Array>,
  limitBytes: number,
): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  try {
    const bytes = pull(exchange, body)
    for (let read = await bytes.next(); !read.done; read = await bytes.next()) {
      parts.push(read.value.subarray(0, limitBytes - size))
      size = Math.min(limitBytes, size + read.value.byteLength)
      if (size === limitBytes) {
        cut(exchange, new UpstreamError('malformed', `the reply is larger than ${limitBytes} bytes`))
        break
      }
    }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
  }
  return decoder.decode(Buffer.concat(parts, size))
}

const SPACE = 0x20
const isVisible = (byte: number): boolean => byte > SPACE

/** The error for the consumer: the reason of the cancellation if there is one, else the connection's error. */
function brokenBy(exchange: Exchange, error: unknown): unknown {
  const failure = exchange.failure ?? { error: connectionFailure(error) }
  cut(exchange, failure.error)
  return failure.error
}

function tooLarge(exchange: Exchange, limitBytes: number): UpstreamError {
  const error = new UpstreamError('malformed', `the reply is larger than ${limitBytes} bytes`)
  cut(exchange, error)
  return error
}
